/** Shows a hostile payload on every page: it stays text, and nothing of it runs. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { gatewayToken, hookToken, rehearsalPlugin, until } from '../installation.ts'
import { inBrowser, openConsole } from './browser.ts'

const hostile = [
  '<script>globalThis.ran = 1</script>',
  '<img src=x onerror="globalThis.ran = 2">',
  '<svg onload="globalThis.ran = 3"><style>body { display: none }</style>',
  '"><a href="javascript:globalThis.ran = 4">here</a>',
  '</pre></textarea><iframe srcdoc="<script>parent.ran = 5</script>"></iframe>',
  '{{constructor.constructor("globalThis.ran = 6")()}}',
  '\u202egnp.exe \u2066isolated\u2069 \u200binvisible \u001b]0;title\u0007 \u{e0041} \ud800',
].join('\n')

/** Elements that no page of the console has. */
const forbidden = 'img, iframe, script:not([src]), style, a[href^="javascript:"], [onload], [onerror]'

const files = {
  'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
history: { bodies: all }
hooks:
  enabled: true
  token: ${hookToken}
  mappings:
    - { id: all, match: { path: all }, name: "{{name}}", sessionKey: "hook:{{key}}", message: "{{text}}" }
    - { id: bell, match: { path: bell }, action: wake, text: "{{text}}" }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}" } }
agents: { route: { channel: board, to: team } }
`,
}

test(
  'a payload full of HTML, script, bidi and control characters is text on every page',
  inBrowser,
  async (t) => {
    const { page, open, signIn, post, read, browserErrors } = await openConsole(t, files)
    const headers = { 'x-hostile': '<img src=x onerror=globalThis.ran=7>' }
    const { body } = await post(
      '/hooks/all',
      { name: hostile, key: hostile.replace('\ud800', ''), text: hostile },
      headers,
    )
    const bell = await post('/hooks/bell', { text: hostile })
    const failed = await post('/hooks/all', `<html><script>globalThis.ran = 8</script>${hostile}`, headers)
    await post('/hooks/<img src=x onerror=globalThis.ran=9>', { text: hostile })
    const run = await until(async () => {
      const found = await read<{ sessionKey: string; stage: string }>(`/api/runs/${body['runId']}`)
      return found.stage === 'delivered' ? found : undefined
    }, 'the run')
    const { items } = await read<{ items: { id: string }[] }>('/api/deliveries')

    await open('/live')
    await signIn()
    await page.locator('.connection.is-live').waitFor()
    const pages = [
      '/live',
      `/live?endpoint=${encodeURIComponent(hostile.toWellFormed())}`,
      `/requests/${body['requestId']}`,
      `/requests/${failed.body['requestId']}`,
      '/runs',
      `/runs/${body['runId']}`,
      '/sessions',
      `/sessions/${encodeURIComponent(run.sessionKey)}`,
      '/deliveries',
      ...items.map(({ id }) => `/deliveries/${id}`),
      `/events/${bell.body['eventId']}`,
      `/search?q=${encodeURIComponent(hostile.toWellFormed())}`,
      `/requests/${encodeURIComponent(hostile.toWellFormed())}`,
    ]
    for (const path of pages) {
      await open(path)
      await page.locator('h1').waitFor()
      await page
        .locator('.notice', { hasText: /^Loading/ })
        .first()
        .waitFor({ state: 'detached' })
      // Loaded data is drawn by then, and the drawing code has had its turn.
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
      )
      const found = await page.evaluate(`({
      ran: globalThis.ran,
      elements: document.querySelectorAll(${JSON.stringify(forbidden)}).length,
      bidi: /[\\u202a-\\u202e\\u2066-\\u2069\\u200b]/.test(document.body.innerText),
    })`)
      assert.deepEqual(found, { ran: undefined, elements: 0, bidi: false }, path)
    }
    await open(`/requests/${body['requestId']}`)
    await page.locator('.mark', { hasText: 'U+202E' }).first().waitFor()
    const unexpected = browserErrors().filter((each) => !/status of 40[04]/.test(each))
    assert.deepEqual(unexpected, [])
  },
)

test(
  'a stored HTML body that is saved from the console is a download, and its address alone opens nothing',
  inBrowser,
  async (t) => {
    const { page, open, signIn, post, address, browserErrors } = await openConsole(t, files)
    // A body that is read as a form may begin with any text.
    const html = '<html><script>alert(1)</script>=1&text=x&name=y&key=z'
    const { body } = await post('/hooks/all', html, {
      'content-type': 'application/x-www-form-urlencoded',
    })
    await open(`/requests/${body['requestId']}`)
    await signIn()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Raw' }).click(),
    ])
    assert.equal(download.suggestedFilename(), `${body['requestId']}.body`)
    assert.equal(await readFile(await download.path(), 'utf8'), html)
    // The browser sends the cookie with these, and not the half that the page of the console keeps.
    for (const query of ['', '?raw=true']) {
      const opened = await page.goto(`${address}/api/requests/${body['requestId']}/body${query}`)
      assert.equal(opened?.status(), 401)
    }
    assert.deepEqual(
      browserErrors().filter((each) => !each.includes('/favicon.ico')),
      [],
    )
  },
)

test(
  'the page carries no inline script and no inline style, and its policy allows none',
  inBrowser,
  async (t) => {
    const { page, open, signIn, address, browserErrors } = await openConsole(t, files)
    const response = await fetch(`${address}/console`)
    const policy = response.headers.get('content-security-policy') ?? ''
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? ''
    assert.ok(nonce.length >= 16)
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe-(inline|eval)/)
    const html = await response.text()
    assert.doesNotMatch(html, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|__[A-Z]+__/)
    assert.ok(html.includes(`nonce="${nonce}"`))
    assert.notEqual(
      /'nonce-([^']+)'/.exec(
        (await fetch(`${address}/console`)).headers.get('content-security-policy') ?? '',
      )?.[1],
      nonce,
    )

    await open('/live')
    await signIn()
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    const inline = await page.evaluate(
      `document.querySelectorAll('script:not([src]), style, [style]').length`,
    )
    assert.equal(inline, 0)
    assert.deepEqual(browserErrors(), [])
  },
)
