/** Builds the site with VitePress, whose packages npm installs, follows its links, and searches it in a browser. */

import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { chromium } from 'playwright-core'
import { browserArguments, findBrowser } from '../browser.ts'
import { docs } from './build.ts'
import { addressOf, groups, otherPages, pagesOf } from './pages.ts'

const root = path.join(import.meta.dirname, '../..')
const site = path.join(root, 'build/site')
const listed = groups.flatMap((group) => pagesOf(root, group)).map(addressOf)
const browser = findBrowser()

/** Screenshots are kept in this folder, if it is named. */
const shots = process.env['REVEILLE_SHOTS']

before(async () => {
  assert.deepEqual(await docs(root, []), { code: 0, signal: null })
})

test('each page is there as HTML and as Markdown, and llms.txt lists both kinds of pages', async () => {
  const index = await read('llms.txt')
  for (const address of [...listed, ...otherPages(root).map(addressOf)]) {
    assert.ok(existsSync(path.join(site, address.replace(/\.md$/, '.html'))), address)
    assert.ok(existsSync(path.join(site, address)), address)
    assert.ok(index.includes(`](${address})`), `llms.txt lacks ${address}`)
  }
  const full = await read('llms-full.txt')
  assert.ok(listed.every((address) => full.includes(`<!-- ${address} -->`)))
})

test('every link of the site leads to a file of it, and to a heading where it names one', async () => {
  const pages = globSync('**/*.html', { cwd: site })
  assert.ok(pages.length > 80)
  const html = new Map(await Promise.all(pages.map(async (page) => [page, await read(page)] as const)))
  const broken = pages.flatMap((page) =>
    linksOf(html.get(page) ?? '').filter((link) => {
      const { pathname, hash } = new URL(link, `http://site/${page}`)
      const file = decodeURIComponent(pathname)
        .replace(/^\//, '')
        .replace(/^$|\/$/, '$&index.html')
      if (!existsSync(path.join(site, file))) return true
      return hash !== '' && !html.get(file)?.includes(`id="${decodeURIComponent(hash.slice(1))}"`)
    }),
  )
  assert.deepEqual(broken, [])
})

test('links between the Markdown files lead to files', async () => {
  const pages = globSync('**/*.md', { cwd: site })
  const broken = await Promise.all(
    pages.map(async (page) => {
      const prose = (await read(page)).replace(/^```.*?^```$/gms, '')
      const links = [...prose.matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)].map(([, link = '']) => link)
      const local = links.filter((link) => !/^[a-z]+:/.test(link))
      return local.filter((link) => !existsSync(path.join(site, path.dirname(page), link)))
    }),
  )
  assert.deepEqual(broken.flat(), [])
})

test('a page shows templates as they were written, and leads to its Markdown', async () => {
  const page = await read('mappings.html')
  assert.ok(page.includes('<code>{{default title &quot;no title&quot;}}</code>'))
  assert.ok(page.includes('href="/mappings.md"'))
})

test(
  'the search finds a heading of a page without any other server, on a phone and on a desktop, in light and dark',
  browser === undefined
    ? { skip: 'there is no Chromium here; npm run setup:browser installs one' }
    : { timeout: 120_000 },
  async (t) => {
    const origin = await serveSite(t)
    const launched = await chromium.launch({ executablePath: browser, args: browserArguments() })
    t.after(() => launched.close())
    const page = await launched.newPage()
    const outsiders: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(origin)) outsiders.push(request.url())
    })
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    for (const [device, width, height] of [
      ['phone', 390, 844],
      ['desktop', 1280, 800],
    ] as const)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height })
        await page.emulateMedia({ colorScheme })
        for (const name of ['index', 'mappings', 'operating', 'reference/http']) {
          await page.goto(`${origin}/${name}.html`, { waitUntil: 'networkidle' })
          const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          assert.ok(Number(wide) <= 0, `${name} is ${wide} pixels too wide on a ${device}`)
          await shoot(`${name.replace('/', '-')}-${device}-${colorScheme}`)
        }
        await page.locator('.VPNavBarSearch button').click()
        await page.locator('.search-input').fill('signature')
        await page.locator('.result', { hasText: 'Trust' }).first().waitFor()
        await shoot(`search-${device}-${colorScheme}`)
      }
    assert.deepEqual({ outsiders, problems }, { outsiders: [], problems: [] })

    async function shoot(name: string): Promise<void> {
      if (!shots) return
      await mkdir(shots, { recursive: true })
      await page.screenshot({ path: path.join(shots, `${name}.png`) })
    }
  },
)

function linksOf(html: string): string[] {
  return [...html.matchAll(/<(?:a|link|script|img)\b[^>]*?\s(?:href|src)="([^"]*)"/g)]
    .map(([, link = '']) => link.replaceAll('&amp;', '&'))
    .filter((link) => !/^[a-z]+:/.test(link))
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

async function serveSite(t: TestContext): Promise<string> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    try {
      const content = await readFile(path.join(site, decodeURIComponent(pathname)))
      response
        .setHeader('content-type', types[path.extname(pathname)] ?? 'application/octet-stream')
        .end(content)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function read(file: string): Promise<string> {
  return readFile(path.join(site, file), 'utf8')
}
