/** Opens the console of a real gateway in a real browser. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { chromium, type Locator, type Page } from 'playwright-core'
import { browserArguments, findBrowser } from '../../tools/browser.ts'
import { ensureConsole } from '../../tools/console.js'
import { atEnd } from '../at-end.ts'
import {
  type Files,
  gatewayToken,
  type Installation,
  type InstallOptions,
  install,
  until,
} from '../installation.ts'

export const root = join(import.meta.dirname, '..', '..')

const executablePath = findBrowser()

/** The options of every test in this folder: without a browser it is skipped, and says so. */
export const inBrowser =
  executablePath === undefined
    ? { skip: 'there is no Chromium here; npm run setup:browser installs one' }
    : { timeout: 120_000 }

export const phone = { width: 390, height: 844 }
export const desktop = { width: 1280, height: 800 }

/** Otherwise Chromium shows each gateway in a process of its own, and holds another one ready. */
const oneRenderer = ['--disable-site-isolation-trials', '--renderer-process-limit=1']

let building: Promise<unknown> | undefined
let launching: Promise<Page> | undefined

/**
 * One page for all tests of a file, each of which leaves it empty. A context for each test would take a second of processor time more, and
 * each gateway has an origin of its own anyway.
 */
function launch(): Promise<Page> {
  launching ??= (async () => {
    const browser = await chromium.launch({ executablePath, args: [...browserArguments(), ...oneRenderer] })
    return browser.newPage({ viewport: desktop })
  })()
  return launching
}
after(async () => (await launching)?.context().browser()?.close())

/** Pages of all gateways share their cookies, as a cookie knows no port. */
async function leave(page: Page): Promise<void> {
  page.removeAllListeners()
  await page.evaluate('localStorage.clear(); sessionStorage.clear()').catch(() => undefined)
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.setViewportSize(desktop)
  await page.emulateMedia({ colorScheme: 'light' })
}

export interface Console extends Installation {
  readonly page: Page
  /** `http://127.0.0.1:12345`. */
  readonly address: string
  /** Opens a page of the console: `/runs`. */
  open(path: string): Promise<void>
  /** Enters the token, by keyboard. */
  signIn(token?: string): Promise<void>
  /** The browser's reports: errors of scripts, and violations of the policy. */
  browserErrors(): readonly string[]
}

/** Starts a gateway on these files, and opens its console, which asks for the token. */
export async function openConsole(
  t: TestContext,
  files: Files = {},
  options: InstallOptions = {},
): Promise<Console> {
  building ??= ensureConsole(root)
  await building
  const installed = await install(t, files, options)
  const address = await installed.gateway.listen()
  const page = await launch()
  atEnd(t, () => leave(page))
  page.setDefaultTimeout(40_000)
  const browserErrors: string[] = []
  page.on('pageerror', (error) => browserErrors.push(String(error.stack ?? error)))
  page.on('console', (message) => {
    // The answer to the question whether this browser is signed in is an error until it is.
    if (message.type() === 'error' && !/status of 401/.test(message.text()))
      browserErrors.push(`${message.text()} ${message.location().url}`)
  })
  page.on('dialog', (dialog) => {
    browserErrors.push(`a script of the page said ${dialog.message()}`)
    void dialog.dismiss()
  })
  return {
    ...installed,
    page,
    address,
    browserErrors: () => browserErrors,
    async open(path) {
      await page.goto(`${address}/console${path}`)
    },
    async signIn(token = gatewayToken) {
      await page.getByLabel('Gateway token').waitFor()
      // Text typed before the field has the focus is lost.
      await becomesTrue(page, "document.activeElement?.id === 'token'")
      await page.keyboard.type(token)
      await page.keyboard.press('Enter')
    },
  }
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** `colours`: the rules whose result depends on colours, which are all that a second theme changes. */
export type AxeRules = 'all' | 'colours'

/** The serious findings of axe-core on the current page. It is loaded by the tools of the browser, which no policy of a page concerns. */
async function seriousFindings(page: Page, rules: AxeRules): Promise<readonly string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(await readFile(axeFile, 'utf8'))
  return page.evaluate(
    async (options) => {
      const { axe } = globalThis as unknown as Axe
      const { violations } = await axe.run(options)
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
        )
    },
    {
      resultTypes: ['violations'],
      ...(rules === 'colours' && { runOnly: ['color-contrast', 'link-in-text-block'] }),
    },
  )
}

interface Axe {
  readonly axe: { run(options: object): Promise<{ readonly violations: readonly AxeViolation[] }> }
}

interface AxeViolation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
}

/** Presses keys until the target has the focus: Tab, and arrows inside of a list. */
export async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < 200; presses += 1) {
    const keys = await target.evaluate((element) => {
      const active = element.ownerDocument.activeElement
      if (active === element) return []
      const group = element.closest('.rows, fieldset')
      if (group !== null && active !== null && group.contains(active)) {
        const isBelow = (active.compareDocumentPosition(element) & 4) !== 0
        return [isBelow ? 'ArrowDown' : 'ArrowUp']
      }
      // In an editor Tab indents until Escape was pressed.
      return active?.closest('.cm-editor') ? ['Escape', 'Tab'] : ['Tab']
    })
    if (keys.length === 0) return
    for (const key of keys) await page.keyboard.press(key)
  }
  throw new Error(`The keyboard does not reach ${target}.`)
}

/** Waits for an expression of the page. It is asked by the tools of the browser, as the policy lets no page evaluate a text. */
export async function becomesTrue(page: Page, expression: string): Promise<void> {
  await until(async () => (await page.evaluate(expression)) === true || undefined, expression)
}

/** An operator's use of the console. */
export interface Operator {
  readonly name: string
  /** Follows a link, presses a button. */
  use(page: Page, target: Locator): Promise<void>
}

export const pointer: Operator = { name: 'by pointer', use: (_page, target) => target.click() }
export const keyboard: Operator = {
  name: 'by keyboard alone',
  async use(page, target) {
    await reach(page, target)
    await page.keyboard.press('Enter')
  },
}

/**
 * Screenshots are for people to look at, who ask for them with `REVEILLE_SCREENSHOTS=1`: each page at phone and desktop width, in both
 * themes, in `build/screenshots`.
 */
export async function takeScreenshots(page: Page, name: string): Promise<void> {
  if (process.env['REVEILLE_SCREENSHOTS'] !== '1') return
  for (const [size, viewport] of Object.entries({ phone, desktop })) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const file = join(root, 'build', 'screenshots', `${name}-${size}-${colorScheme}.png`)
      // A feed can be as long as a book.
      await page.screenshot({ path: file, fullPage: !name.startsWith('live') })
    }
  }
  await page.setViewportSize(desktop)
  await page.emulateMedia({ colorScheme: 'light' })
}

/** No page may be wider than the screen. */
async function assertFits(page: Page, width: number): Promise<void> {
  const { viewport } = { viewport: page.viewportSize() }
  await page.setViewportSize({ width, height: 700 })
  const over = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
  assert.ok(over <= 0, `${page.url()} is ${over} pixels wider than a screen of ${width}`)
  if (viewport) await page.setViewportSize(viewport)
}

/**
 * Holds a page to what all of them promise, in both themes, and leaves its screenshots. `dark` says what is checked in the dark theme; in the
 * light one it is everything.
 */
export async function assertLooks(page: Page, name: string, dark: AxeRules): Promise<void> {
  for (const [colorScheme, rules] of [
    ['light', 'all'],
    ['dark', dark],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    assert.deepEqual(await seriousFindings(page, rules), [], `${name}, ${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await assertFits(page, 320)
  await takeScreenshots(page, name)
}
