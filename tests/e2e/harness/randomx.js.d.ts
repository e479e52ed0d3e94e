/** The part of randomx.js that is timed; both are missing where no copy of it was named. */
declare module "randomx.js" {
  export const randomx_init_cache: ((key: Uint8Array) => unknown) | undefined;
  export const randomx_create_vm:
    ((cache: unknown) => { calculate_hash: (input: Uint8Array) => Uint8Array }) | undefined;
}
