/** Starts the Chromium that Playwright downloaded, and ends it. Fails if a library is missing that it needs. */
import { chromium } from "@playwright/test";

const browser = await chromium.launch();
await browser.close();
