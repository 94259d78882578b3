import chromium from '@sparticuz/chromium'

// Run by browser.ts in a process of its own, because the package goes by the environment it is loaded in, and
// changes it.
process.stdout.write(await chromium.executablePath())
