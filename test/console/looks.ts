/** Looks at every page as people do: in both themes, on a large screen and on one of 320 pixels, with axe-core. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayToken, hookToken, rehearsalPlugin, until } from '../installation.ts'
import { octokitSamples } from '../sample-data.ts'
import { type AxeRules, assertLooks, inBrowser, openConsole } from './browser.ts'

const files = {
  'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
history: { bodies: all }
hooks:
  enabled: true
  token: ${hookToken}
  mappings:
    - { id: orders, match: { path: orders }, message: "Order {{order.id}}", transform: { module: orders.ts } }
    - { id: doorbell, match: { path: doorbell }, action: wake, text: "The doorbell rang: {{who}}" }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}" } }
agents: { budget: { runs: 100 } }
`,
  'mappings/github.yaml': mappings('opened'),
  'transforms/orders.ts': `import { defineTransform } from '@reveille/engine/transform'
export default defineTransform(({ payload }) => ({ name: payload.order.customer.name }))
`,
}

function mappings(action: string, more = ''): string {
  return `mappings:
  - id: review
    match: { path: github, headers: { x-github-event: pull_request }, body: { action: ${action} } }
    name: Review
    sessionKey: "hook:github:{{repository.full_name}}#{{number}}"
    message: "Review {{pull_request.title}} by {{sender.login}}"
${more}`
}

/** `dark` says what axe-core checks in the dark theme; in the light one it checks everything. */
export function testLooks({ dark }: { readonly dark: AxeRules }): void {
  test(
    'nothing serious is wrong with any page, in both themes, and each fits a screen of 320 pixels',
    inBrowser,
    async (t) => {
      const { page, open, signIn, post, read, write, gateway, browserErrors } = await openConsole(t, files)

      const look = (name: string) => assertLooks(page, name, dark)

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
      await look('sign-in')
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
        await look(name)
      }

      await open(`/playground?request=${ignored?.body['requestId']}`)
      const mapping = page.getByRole('textbox', { name: 'Mapping' })
      await page.getByLabel('Start from a live mapping').selectOption({ label: 'review' })
      await page.getByRole('button', { name: 'Load the mapping' }).click()
      await mapping.getByText('opened').waitFor()
      await page.locator('[data-outcome]').first().waitFor()
      await look('playground')
      await mapping.click()
      await page.keyboard.press('Control+Home')
      await page.keyboard.type('x')
      await page.getByRole('list', { name: 'Messages about the mapping' }).waitFor()
      await look('playground-mistake')

      await write('mappings/github.yaml', mappings('closed'))
      await gateway.reload()
      await write('mappings/github.yaml', mappings('closed', '  - id: third\n    mesage: hello\n'))
      await gateway.reload()
      await until(async () => {
        const { items } = await read<{ items: { isCurrent?: true }[] }>('/api/generations')
        return items[0]?.isCurrent
      }, 'the refusal')
      await open('/changes?from=1&to=2')
      await page.locator('.diff ins').first().waitFor()
      await page.getByRole('alert').waitFor()
      await look('changes')

      await open('/health')
      await page.locator('.plot > svg').nth(2).waitFor()
      await look('health')
      assert.deepEqual(browserErrors(), [])
    },
  )
}
