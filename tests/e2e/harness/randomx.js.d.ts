/** The timed part of randomx.js; both exports are undefined if `RANDOMX_JS` names no copy. */
declare module "randomx.js" {
  export const randomx_init_cache: ((key: Uint8Array) => unknown) | undefined;
  export const randomx_create_vm:
    ((cache: unknown) => { calculate_hash: (input: Uint8Array) => Uint8Array }) | undefined;
}
