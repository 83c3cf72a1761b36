/** Shows open problems in the console: on the page that is opened first, and on their own. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../installation.ts'
import { seededFiles, seedFailures, seeds } from '../issues/seeds.ts'
import { inBrowser, keyboard, openConsole, reach, takeScreenshots } from './browser.ts'

test(
  'of twelve seeded failures cause and next step are on the first page that is opened',
  inBrowser,
  async (t) => {
    const opened = await openConsole(t, seededFiles)
    const { page, open, signIn, browserErrors } = opened
    await open('')
    await signIn()
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    await seedFailures(opened)

    await open('')
    const shown = page.locator('.open-issues li')
    await until(async () => (await shown.count()) >= Object.keys(seeds).length || undefined, 'twelve issues')
    const texts = (await shown.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
    for (const [what, { cause, command }] of Object.entries(seeds)) {
      const found = texts.find((text) => new RegExp(cause.source.replace(/\$$/, '')).test(text))
      assert.ok(found, `${what} is not in ${texts.join('\n')}`)
      assert.match(found, /Next ?[A-Z]/, what)
      assert.match(found, command, what)
    }
    await takeScreenshots(page, 'live-issues')
    await open('/issues')
    await page.locator('.issue').first().waitFor()
    await takeScreenshots(page, 'issues-open')
    const spent = page.locator('.issue', { hasText: 'BUDGET_SPENT' })
    await spent.waitFor()
    assert.equal(
      await spent.getByRole('button', { name: 'Perform the parked runs' }).count(),
      0,
      'it could only fail',
    )
    assert.deepEqual(browserErrors(), [])
  },
)

test('an issue is resolved, muted and opened again by keyboard alone', inBrowser, async (t) => {
  const { page, open, signIn, post, browserErrors } = await openConsole(t, seededFiles)
  await open('/issues')
  await signIn()
  await page.getByRole('heading', { name: 'Issues' }).waitFor()
  await page.locator('.connection.is-live').waitFor()
  await post('/hooks/orders', { order: 7 })
  const issue = page.locator('.issue', { hasText: 'TRANSFORM_FAILING' })
  await issue.waitFor()
  await keyboard.use(page, issue.getByRole('button', { name: 'Mute' }))
  await issue.waitFor({ state: 'detached' })
  await reach(page, page.getByRole('radio', { name: 'muted' }))
  await keyboard.use(page, issue.getByRole('button', { name: 'Open again' }))
  await issue.waitFor({ state: 'detached' })
  await reach(page, page.getByRole('radio', { name: 'open' }))
  await keyboard.use(page, issue.getByRole('button', { name: 'Resolve' }))
  await issue.waitFor({ state: 'detached' })
  await reach(page, page.getByRole('radio', { name: 'resolved' }))
  await issue.waitFor()
  assert.deepEqual(browserErrors(), [])
})
