/** Replaces randomx.js if `RANDOMX_JS` names no copy of it. */
export const randomx_init_cache = undefined;
export const randomx_create_vm = undefined;
