/** Works on mappings in the console: the playground, the changes and the health page, with a pointer and by keyboard alone. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { gatewayToken, hookToken, rehearsalPlugin } from '../installation.ts'
import { octokitSamples } from '../sample-data.ts'
import {
  inBrowser,
  keyboard,
  type Operator,
  openConsole,
  pointer,
  reach,
  takeScreenshots,
} from './browser.ts'

const files = {
  'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
history: { bodies: all }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { terminal: {}, board: { folder: "{folder}" } }
agents: { budget: { runs: 100 } }
`,
  'mappings/github.yaml': mappings('closed'),
}

function mappings(action: string, more = ''): string {
  return `# What GitHub sends.
mappings:
  - id: other
    match: { path: github, headers: { x-github-event: star } }
    action: wake
    text: "{{sender.login}} likes it"
  - id: review
    match:
      path: github
      headers: { x-github-event: pull_request }
      body: { action: ${action} }
    name: Review
    deliver: false
    message: |-
      Review {{pull_request.title}}
      by {{sender.login}}.
${more}`
}

const opened = octokitSamples().find(({ body }) => /^\{"action":"opened".*"pull_request"/s.test(body))

const editorOf = (page: Page, label: string) => page.getByRole('textbox', { name: label })

/** Selects a text in an editor, so that what is typed next replaces it. */
async function select(operator: Operator, page: Page, editor: Locator, text: string): Promise<void> {
  if (operator === pointer) {
    await editor.locator('.cm-line', { hasText: text }).getByText(text, { exact: true }).first().dblclick()
    return
  }
  await reach(page, editor)
  await page.keyboard.press('Control+f')
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
}

async function choose(operator: Operator, page: Page, select: Locator, option: string): Promise<void> {
  if (operator === pointer) {
    await select.selectOption({ label: option })
    return
  }
  await reach(page, select)
  await page.keyboard.type(option)
}

for (const operator of [pointer, keyboard]) {
  test(`a mapping is changed in the playground until it matches, ${operator.name}`, inBrowser, async (t) => {
    const { page, open, signIn, post, browserErrors, gateway, read } = await openConsole(t, files)
    const ignored = await post('/hooks/github', opened?.body, opened?.headers)
    await open(`/requests/${ignored.body['requestId']}`)
    await signIn()
    await operator.use(page, page.getByRole('link', { name: 'Open in the playground' }))

    const result = page.getByRole('region', { name: 'Result' })
    await result.getByText('no mapping of endpoint').waitFor()
    await editorOf(page, 'Payload').getByText('"opened"').first().waitFor()
    await choose(operator, page, page.getByLabel('Start from a live mapping'), 'review')
    await operator.use(page, page.getByRole('button', { name: 'Load the mapping' }))
    const mapping = editorOf(page, 'Mapping')
    await mapping.getByText('closed').waitFor()
    await result.getByText('match.body.action').waitFor()

    await select(operator, page, mapping, 'closed')
    await page.keyboard.type('opened')
    await result.locator('[data-outcome=accepted]').waitFor()
    await result.locator('.outside', { hasText: 'Codertocat' }).first().waitFor()
    await page.locator('#live-region', { hasText: 'accepted' }).waitFor({ state: 'attached' })

    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator('.cm-editor :focus').count(), 0, 'Tab leaves the editor after Escape')

    await operator.use(page, page.getByText('As a test', { exact: true }))
    await result.getByRole('region', { name: 'Test' }).getByText('mapping: review').waitFor()
    assert.deepEqual(browserErrors(), [])
    assert.equal(gateway.current().generation, 1, 'nothing went live')
    const { items } = await read<{ items: unknown[] }>('/api/requests')
    assert.equal(items.length, 1, 'nothing was stored')
  })

  test(
    `what was tried is shown as a change, saved with its test, live, and undone, ${operator.name}`,
    inBrowser,
    async (t) => {
      const { page, open, signIn, post, browserErrors, gateway, folder } = await openConsole(t, files)
      const ignored = await post('/hooks/github', opened?.body, opened?.headers)
      const file = () => readFile(join(folder, 'mappings', 'github.yaml'), 'utf8')
      await open(`/playground?request=${ignored.body['requestId']}`)
      await signIn()
      await choose(operator, page, page.getByLabel('Start from a live mapping'), 'review')
      await operator.use(page, page.getByRole('button', { name: 'Load the mapping' }))
      const mapping = editorOf(page, 'Mapping')
      const save = page.getByRole('region', { name: 'Save' })
      await mapping.getByText('closed').waitFor()
      await select(operator, page, mapping, 'closed')
      await page.keyboard.type('opened')
      await page.locator('#result [data-outcome=accepted]').waitFor()

      assert.equal(await save.getByLabel('File to save in').inputValue(), 'github.yaml')
      await operator.use(page, save.getByRole('button', { name: 'Show the change' }))
      await save.locator('.diff del', { hasText: 'closed' }).waitFor()
      await save.locator('.diff ins', { hasText: 'a request to github is accepted by review' }).waitFor()
      assert.equal(await file(), mappings('closed'), 'nothing is written yet')
      await takeScreenshots(page, 'playground-save')

      await operator.use(page, save.getByRole('button', { name: 'Save and go live' }))
      await save.getByText('github.yaml is saved, and generation 2 is live.').waitFor()
      assert.ok((await file()).startsWith(mappings('opened').trimEnd()), await file())
      assert.equal((await post('/hooks/github', opened?.body, opened?.headers)).status, 202)
      await operator.use(page, save.getByRole('button', { name: 'Undo' }))
      await operator.use(page, save.getByRole('button', { name: 'Undo' }))
      await page
        .locator('#live-region', { hasText: 'Generation 1 is live again.' })
        .waitFor({ state: 'attached' })
      assert.equal(gateway.current().generation, 1)

      await select(operator, page, mapping, 'Review')
      await page.keyboard.type('x: y')
      await save.getByRole('button', { name: 'Save and go live' }).waitFor({ state: 'detached' })
      await operator.use(page, save.getByRole('button', { name: 'Show the change' }))
      await save.getByRole('list', { name: 'Why the mapping does not compile' }).waitFor()
      assert.deepEqual(
        browserErrors().filter((each) => !/status of 409/.test(each)),
        [],
      )
    },
  )

  test(`a mistake in the playground is named at its line, ${operator.name}`, inBrowser, async (t) => {
    const { page, open, signIn, browserErrors } = await openConsole(t, files)
    await open('/playground')
    await signIn()
    const endpoint = page.getByLabel('Endpoint')
    await reach(page, endpoint)
    await page.keyboard.type('github')
    await reach(page, editorOf(page, 'Mapping'))
    await page.keyboard.type('id: a\nmesage: hello')
    const message = page.getByRole('list', { name: 'Messages about the mapping' })
    await message.getByText('Did you mean').waitFor()
    await page.locator('.cm-lintRange-error', { hasText: 'mesage' }).waitFor()
    await operator.use(page, message.getByRole('button', { name: 'Go to line 2' }))
    await page.locator('[data-editor=yaml] .cm-focused').waitFor()
    await page.keyboard.press('Delete')
    await page.keyboard.type('m')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.type('s')
    await page.getByRole('region', { name: 'Result' }).locator('[data-outcome=accepted]').waitFor()
    assert.deepEqual(browserErrors(), [])
  })

  test(
    `a mapping file that is broken on disk shows at once at its line, ${operator.name}`,
    inBrowser,
    async (t) => {
      const { page, open, signIn, write, browserErrors } = await openConsole(t, files, { watch: true })
      await open('/live')
      await signIn()
      await page.locator('.connection.is-live').waitFor()
      if (operator === pointer) await page.getByRole('link', { name: 'Changes' }).click()
      else {
        await page.keyboard.press('g')
        await page.keyboard.press('c')
      }
      await page.getByText('Generation 1', { exact: true }).first().waitFor()

      await write('mappings/github.yaml', mappings('closed', '  - id: third\n    mesage: hello\n'))
      const refused = page.getByRole('alert')
      await refused.getByText('mappings/github.yaml:18:5').waitFor()
      await refused.locator('.code-frame-line mark', { hasText: 'mesage' }).waitFor()
      await refused.getByText('message', { exact: true }).waitFor()

      await write('mappings/github.yaml', mappings('opened'))
      await refused.waitFor({ state: 'detached' })
      await page.getByText('Generation 2', { exact: true }).first().waitFor()

      const entry = page.locator('[data-generation="2"] > summary')
      await operator.use(page, entry)
      await operator.use(page, page.getByRole('button', { name: 'Compare files with generation 1' }))
      await page.locator('.diff del', { hasText: 'closed' }).waitFor()
      await page.locator('.diff ins', { hasText: 'opened' }).waitFor()

      await operator.use(page, page.locator('[data-generation="1"] > summary'))
      await operator.use(page, page.getByRole('button', { name: 'Roll back to 1: dry run' }))
      await page.getByText('Dry run: a rollback to generation 1 would go live.').waitFor()
      await operator.use(page, page.getByRole('button', { name: 'Roll back to 1 now' }))
      await page.getByText('It was rolled back to').waitFor()
      assert.deepEqual(browserErrors(), [])
    },
  )
}

test(
  'the health page shows three plots with their numbers, and the parts of the gateway',
  inBrowser,
  async (t) => {
    const { page, open, signIn, post, browserErrors } = await openConsole(t, files)
    for (let count = 0; count < 5; count++) await post('/hooks/github', opened?.body, opened?.headers)
    for (let count = 0; count < 3; count++)
      await post('/hooks/github', '{}', { authorization: 'Bearer wrong' })
    const scripts: string[] = []
    page.on('request', (request) => scripts.push(request.url()))
    await open('/health')
    await signIn()
    for (const name of ['Requests per minute', 'Time to accept', 'Backlog and spend']) {
      const figure = page.getByRole('figure').filter({ has: page.getByRole('heading', { name }) })
      await figure.locator('.plot > svg').waitFor()
      await figure.getByText('As a table').click()
      await figure.getByRole('table').waitFor()
    }
    for (const part of ['Store', 'Channel board', 'agents.budget', 'Main session'])
      await page.getByRole('region', { name: part }).waitFor()
    // Eight requests are no more than eight a minute, and the next mark of the scale is ten.
    await page
      .locator('.plot-scale', { hasText: /^(10|5)/ })
      .first()
      .waitFor()
    await page.locator('.open-issues summary', { hasText: /^1 open issue: 1 suspicious$/ }).waitFor()
    await takeScreenshots(page, 'health-issue')
    assert.equal(await page.getByText('Everything works.').count(), 0, 'an issue is open')
    assert.ok(
      !scripts.some((address) => address.includes('/editor-')),
      'the editor is loaded by the playground alone',
    )
    assert.deepEqual(browserErrors(), [])
  },
)
