/**
 * The address is the state: which page is open, and its filters. The browser reports where it is about to go (its Navigation API), by a
 * link, a form, a script or its own buttons, and what is in the console is drawn without loading the page. A browser that does not
 * report it loads the page each time.
 */

import { computed, signal } from '@preact/signals'

const base = '/console'

interface Address {
  /** Below `/console`, with a leading slash: `/requests/0192`. */
  readonly path: string
  readonly query: URLSearchParams
}

/** Props of each page. */
export interface PageProps {
  /** The parameters in the path, by the names in the page's pattern. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
}

export const address = signal<Address>(read(window.location))

export const path = computed(() => address.value.path)

/** A second Escape until the browser has gone back is not a second step. */
let isGoingBack = false

function read({ pathname, search }: Pick<URL, 'pathname' | 'search'>): Address {
  const below = pathname.slice(base.length).replace(/\/$/, '')
  return { path: below === '' ? '/live' : below, query: new URLSearchParams(search) }
}

/** The `href` of a page: `hrefOf('/runs', { state: 'parked' })`. Empty values are left out. */
export function hrefOf(to: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, value)
  const text = parameters.toString()
  return `${base}${to}${text === '' ? '' : `?${text}`}`
}

export function go(href: string, { replace = false } = {}): void {
  if (window.navigation) window.navigation.navigate(href, { history: replace ? 'replace' : 'auto' })
  else window.location.assign(href)
}

/** Goes to the page before, or to `parent` where this is the first page of the console. */
export function goBack(parent: string): void {
  if (isGoingBack) return
  const { navigation } = window
  if (!navigation?.canGoBack) {
    go(hrefOf(parent), { replace: true })
    return
  }
  isGoingBack = true
  const end = () => {
    isGoingBack = false
  }
  navigation.back().finished?.then(end, end)
}

/** Searches for what was typed into the field `q` of a form. */
export function submitSearch(event: Event & { readonly currentTarget: HTMLFormElement }): void {
  event.preventDefault()
  const query = new FormData(event.currentTarget).get('q')
  go(hrefOf('/search', { q: String(query).trim() }))
}

/** Changes filters in the address without a step in the history, and keeps the others. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path: to, query } = address.value
  go(hrefOf(to, { ...Object.fromEntries(query), ...changes }), { replace: true })
}

export function startRouter(): void {
  window.navigation?.addEventListener('navigate', (event) => {
    const url = new URL(event.destination.url)
    const isOurs = url.pathname === base || url.pathname.startsWith(`${base}/`)
    if (!event.canIntercept || !isOurs || event.hashChange || event.downloadRequest !== null) return
    if (event.navigationType === 'reload') return
    const next = read(url)
    event.intercept({
      async handler() {
        address.value = next
      },
      focusReset: 'manual',
      scroll: next.path === path.value ? 'manual' : 'after-transition',
    })
  })
}

/** Returns what a pattern such as `/runs/:id` takes from a path; undefined where it does not fit. */
export function matchPath(pattern: string, tried: string): Record<string, string> | undefined {
  const patternSegments = pattern.split('/')
  const pathSegments = tried.split('/')
  if (patternSegments.length !== pathSegments.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of patternSegments.entries()) {
    const value = pathSegments[index] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decoded(value)
    else if (part !== value) return undefined
  }
  return params
}

/** An address that was typed may hold a lone percent sign. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
