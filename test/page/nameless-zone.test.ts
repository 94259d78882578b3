import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDashboardPage, untilReady } from './dashboard-page.ts'
import { dashboardOver } from './shared-dashboard.ts'

test('the page shows times in UTC where the browser cannot name the zone of its machine', async () => {
  // Chromium reads it when it starts, and then calls the zone Etc/Unknown, which no format takes.
  process.env['TZ'] = ''
  await using opened = await openDashboardPage(await dashboardOver('day'), { timezoneId: '' })
  const zone = await opened.page.evaluate('Intl.DateTimeFormat().resolvedOptions().timeZone')
  assert.equal(zone, 'Etc/Unknown')
  await untilReady(opened.page)
})
