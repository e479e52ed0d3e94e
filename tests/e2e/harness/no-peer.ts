/** Stands for randomx.js where no copy of it was named. */
export const randomx_init_cache = undefined;
export const randomx_create_vm = undefined;
