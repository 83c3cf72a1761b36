/** Looks at every page as people do: on a phone and on a large screen, in both themes; with axe-core, and for people in `build/screenshots`. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayToken, hookToken, rehearsalPlugin, until } from '../installation.ts'
import { octokitSamples } from '../sample-data.ts'
import { assertLooks, inBrowser, openConsole, seriousFindings, takeScreenshots } from './browser.ts'

const files = {
  'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
history: { bodies: all }
hooks:
  enabled: true
  token: ${hookToken}
  mappings:
    - id: github-review
      match: { path: github, headers: { x-github-event: pull_request }, body: { action: opened } }
      name: Review
      sessionKey: "hook:github:{{repository.full_name}}#{{number}}"
      message: "Review {{pull_request.title}} by {{sender.login}}"
    - { id: orders, match: { path: orders }, message: "Order {{order.id}}", transform: { module: orders.ts } }
    - { id: doorbell, match: { path: doorbell }, action: wake, text: "The doorbell rang: {{who}}" }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}" } }
`,
  'transforms/orders.ts': `import { defineTransform } from '@reveille/engine/transform'
export default defineTransform(({ payload }) => ({ name: payload.order.customer.name }))
`,
}

test(
  'nothing serious is wrong with any page, in both themes, and each fits a screen of 320 pixels',
  inBrowser,
  async (t) => {
    const { page, open, signIn, post, read, browserErrors } = await openConsole(t, files)
    const samples = octokitSamples().filter(({ name }) =>
      /^(pull_request|issues|push|star)#[0-3]$/.test(name),
    )
    const answers = []
    for (const { body, headers } of samples) answers.push(await post('/hooks/github', body, headers))
    const failed = await post('/hooks/orders', { order: { id: 'A-17' } })
    const bell = await post('/hooks/doorbell', { who: 'the postman' })
    await post('/hooks/github', '{}', { authorization: 'Bearer wrong' })
    const accepted = answers.find(({ body }) => body['runId'] !== undefined)
    const ignored = answers.find(({ body }) => body['runId'] === undefined)
    const delivery = await until(async () => {
      const { items } = await read<{ items: { state: string; id: string }[] }>('/api/deliveries')
      return items.find(({ state }) => state === 'parked')
    }, 'the parked delivery')

    await open('')
    await page.getByLabel('Gateway token').waitFor()
    await takeScreenshots(page, 'sign-in')
    assert.deepEqual(await seriousFindings(page), [], 'the sign-in')
    await signIn()
    await page.locator('.connection.is-live').waitFor()

    const pages: Readonly<Record<string, string>> = {
      live: '/live',
      'request-ignored': `/requests/${ignored?.body['requestId']}`,
      'request-failed': `/requests/${failed.body['requestId']}`,
      'request-accepted': `/requests/${accepted?.body['requestId']}`,
      issues: '/issues',
      runs: '/runs',
      run: `/runs/${accepted?.body['runId']}`,
      sessions: '/sessions',
      deliveries: '/deliveries',
      delivery: `/deliveries/${delivery.id}`,
      event: `/events/${bell.body['eventId']}`,
      search: '/search?q=0000',
    }
    for (const [name, path] of Object.entries(pages)) {
      await open(path)
      await page.locator('h1').waitFor()
      await page
        .locator('.notice', { hasText: /^Loading/ })
        .first()
        .waitFor({ state: 'detached' })
      await assertLooks(page, name)
    }
    assert.deepEqual(browserErrors(), [])
  },
)
