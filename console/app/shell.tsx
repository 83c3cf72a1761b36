/** The frame around each page: name, search, navigation, theme, the state of the connection, and the page of the address. */

import { computed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks'
import { announce, LiveRegion, useAnnounced } from '../browser/announce.tsx'
import { address, hrefOf, path, submitSearch } from '../browser/router.ts'
import { setTheme, type Theme, theme } from '../browser/theme.ts'
import { session } from '../data/api.ts'
import { connection } from '../data/stream.ts'
import { Button } from '../parts/controls.tsx'
import { Icon, Logo } from '../parts/icons.tsx'
import { Empty } from '../parts/notice.tsx'
import { OpenIssuesReader, openIssues } from '../parts/open-issues.tsx'
import { findPage, sections } from './pages.ts'
import { SignIn, signOut } from './session.tsx'
import { helpId, openSearch, ShortcutsHelp, useShortcuts } from './shortcuts.tsx'

const opened = computed(() => findPage(path.value))

export function Shell() {
  useShortcuts()
  const state = session.value
  if (state === 'unknown') return <LiveRegion />
  if (state === 'unreachable') {
    return (
      <main class="sign-in" id="main">
        <Empty title="The gateway cannot be reached.">It is asked again every few seconds.</Empty>
      </main>
    )
  }
  // Once it was open, a page stays while the form is shown over it.
  return (
    <>
      {state === 'none' && <SignIn />}
      <Frame isShown={state === 'open'} />
      <LiveRegion />
      <ShortcutsHelp />
    </>
  )
}

function Frame({ isShown }: { readonly isShown: boolean }) {
  const wasShown = useRef(false)
  if (isShown) wasShown.current = true
  if (!wasShown.current) return null
  return (
    <div class="frame" hidden={!isShown}>
      <a class="skip-link button primary" href="#main">
        Skip to the page
      </a>
      <Head />
      <Navigation />
      <OpenPage />
      {isShown && <OpenIssuesReader />}
    </div>
  )
}

function Head() {
  return (
    <header class="head">
      <a class="wordmark" href={hrefOf('/live')} aria-label="Reveille: Live">
        <Logo />
        <span class="not-phone">Reveille</span>
      </a>
      <search class="search">
        <form onSubmit={submitSearch}>
          <input
            id="search"
            name="q"
            type="search"
            required
            placeholder="Paste any id ( / )"
            aria-label="Search by any id"
            aria-keyshortcuts="/"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
        </form>
      </search>
      <Connection />
      <button
        type="button"
        class="button ghost icon-button only-phone"
        aria-label="Search"
        onClick={openSearch}
      >
        <Icon name="search" />
      </button>
      <ThemeSwitch />
      <button
        type="button"
        class="button ghost icon-button not-phone"
        aria-label="Keyboard shortcuts"
        popovertarget={helpId}
      >
        <kbd>?</kbd>
      </button>
      <Button class="ghost small" onClick={() => void signOut()}>
        Sign out
      </Button>
    </header>
  )
}

const connections = {
  connecting: ['Connecting', 'quiet'],
  live: ['Live', 'good'],
  lost: ['Reconnecting', 'warn'],
  off: ['No live updates', 'warn'],
} as const

function Connection() {
  const state = connection.value
  const [words, tone] = connections[state]
  useAnnounced(state === 'connecting' ? undefined : state === 'live' ? 'Connected again.' : `${words}.`)
  return <span class={`badge connection is-${state} tone-${tone}`}>{words}</span>
}

const nextTheme: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }

function ThemeSwitch() {
  const current = theme.value
  const say = (name: Theme) => (name === 'system' ? 'as the system' : name)
  return (
    <button
      type="button"
      class="button ghost icon-button"
      aria-label={`Colours: ${say(current)}. Change to ${say(nextTheme[current])}`}
      onClick={() => {
        setTheme(nextTheme[current])
        announce(`Colours: ${say(theme.value)}.`)
      }}
    >
      <Icon name={current} />
    </button>
  )
}

function Navigation() {
  const current = opened.value?.section
  return (
    <nav class="navigation" aria-label="Pages">
      <ul>
        {sections.map(({ path: to, title, icon }) => (
          <li key={to}>
            <a href={hrefOf(to)} aria-current={current === to ? 'page' : undefined}>
              <Icon name={icon} />
              <span>{title}</span>
              {to === '/issues' && <OpenCount />}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function OpenCount() {
  const count = openIssues.value?.length ?? 0
  if (count === 0) return null
  return (
    <span class="badge tone-warn">
      {count > 99 ? '99+' : count}
      <span class="visually-hidden"> open</span>
    </span>
  )
}

function OpenPage() {
  const found = opened.value
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const title = found?.title ?? 'No such page'
  const place = path.value
  // A new page begins at its heading, for those who do not see that it changed.
  useEffect(() => {
    document.title = `${title} · Reveille`
    if (isFirst.current) isFirst.current = false
    else if (
      document.activeElement === document.body ||
      main.current?.contains(document.activeElement) === false
    )
      main.current?.focus({ preventScroll: true })
  }, [place, title])
  return (
    <main class="main" id="main" ref={main} tabIndex={-1}>
      {found === undefined ? (
        <Empty title="There is no such page.">
          <a href={hrefOf('/live')}>Go to Live</a>
        </Empty>
      ) : (
        <Contained key={found.pattern}>
          <found.Page params={found.params} query={address.value.query} />
        </Contained>
      )}
    </main>
  )
}

/** A mistake in one page must not take the navigation away. The browser's own console is where an operator finds what to report. */
function Contained({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary(reportError)
  if (error === undefined) return <>{children}</>
  return (
    <Empty title="This page failed.">
      The console has a mistake, which the browser's own console tells, or the gateway was replaced by another
      version. <Button onClick={() => window.location.reload()}>Load the console again</Button>
    </Empty>
  )
}
