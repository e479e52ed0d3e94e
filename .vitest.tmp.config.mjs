export default { test: { root: "/work/wt/package", include: ["tests/node/**/*.test.ts"], maxWorkers: 2, testTimeout: 120000 } };
