/** The address is the state: which page is open, and its filters. Links are ordinary links, which are followed without loading the page. */

import { computed, signal } from '@preact/signals'

export const base = '/console'

export interface Address {
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

export const address = signal<Address>(read())

/** Steps inside the console before this page, which its history entry keeps: Escape goes back only to a page of the console. */
let steps = readSteps()
/** The browser goes back a moment after it was asked: a second Escape until then is not a second step. */
let isGoingBack = false

export const path = computed(() => address.value.path)

function readSteps(): number {
  const state: unknown = window.history.state
  return typeof state === 'number' ? state : 0
}

function read(): Address {
  const { pathname, search } = window.location
  const below = pathname.startsWith(base) ? pathname.slice(base.length) : ''
  return {
    path: below === '' || below === '/' ? '/live' : below.replace(/\/$/, ''),
    query: new URLSearchParams(search),
  }
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
  if (!replace) steps += 1
  if (replace) window.history.replaceState(steps, '', href)
  else window.history.pushState(steps, '', href)
  const before = address.value.path
  address.value = read()
  if (before !== address.value.path) window.scrollTo(0, 0)
}

/** Goes to the page before, or to `parent` where this is the first page of the console. */
export function goBack(parent: string): void {
  if (isGoingBack) return
  isGoingBack = steps > 0
  if (isGoingBack) window.history.back()
  else go(hrefOf(parent), { replace: true })
}

/** Changes filters in the address without a step in the history, and keeps the others. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path: to, query } = address.value
  go(hrefOf(to, { ...Object.fromEntries(query), ...changes }), { replace: true })
}

export function startRouter(): void {
  window.addEventListener('popstate', () => {
    steps = readSteps()
    isGoingBack = false
    address.value = read()
  })
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    if (link.origin !== window.location.origin || !isOurs(link.pathname)) return
    // A link to a place on this page, such as the skip link.
    if (link.hash !== '' && link.pathname === window.location.pathname) return
    event.preventDefault()
    go(link.pathname + link.search)
  })
}

function isOurs(pathname: string): boolean {
  return pathname === base || pathname.startsWith(`${base}/`)
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
