/** The pages and their addresses. Live and Request come with the frame; the others are read when they are opened first. */

import { signal } from '@preact/signals'
import { type ComponentType, h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { matchPath, type PageProps } from '../browser/router.ts'
import { Live } from '../pages/live.tsx'
import { Request } from '../pages/request.tsx'
import { Loading } from '../parts/notice.tsx'

type Page = ComponentType<PageProps>

/** A page that is read when it is opened first. */
function lazy<Name extends string>(
  load: () => Promise<Readonly<Record<NoInfer<Name>, Page>>>,
  name: Name,
): Page {
  const loaded = signal<{ readonly Page?: Page }>({})
  return (props) => {
    const [failure, setFailure] = useState<unknown>()
    useEffect(() => {
      load().then((module) => {
        loaded.value = { Page: module[name] }
      }, setFailure)
    }, [])
    if (failure !== undefined) throw failure
    const { Page } = loaded.value
    return Page === undefined ? h(Loading, { label: 'the page' }) : h(Page, props)
  }
}

const lists = () => import('../pages/lists.tsx')
const records = () => import('../pages/records.tsx')

/** The section is the entry of the navigation that is marked while the page is open. */
const pages: readonly (readonly [pattern: string, title: string, section: string, Page: Page])[] = [
  ['/live', 'Live', '/live', Live],
  ['/requests/:id', 'Request', '/live', Request],
  ['/issues', 'Issues', '/issues', lazy(() => import('../pages/issues.tsx'), 'Issues')],
  ['/runs', 'Runs', '/runs', lazy(lists, 'Runs')],
  ['/runs/:id', 'Run', '/runs', lazy(records, 'Run')],
  ['/sessions', 'Sessions', '/runs', lazy(lists, 'Sessions')],
  ['/sessions/:key', 'Session', '/runs', lazy(records, 'Session')],
  ['/deliveries', 'Deliveries', '/runs', lazy(lists, 'Deliveries')],
  ['/deliveries/:id', 'Delivery', '/runs', lazy(records, 'Delivery')],
  ['/events/:id', 'Event', '/runs', lazy(records, 'Event')],
  ['/playground', 'Playground', '/playground', lazy(() => import('../pages/playground.tsx'), 'Playground')],
  ['/changes', 'Changes', '/changes', lazy(() => import('../pages/changes.tsx'), 'Changes')],
  ['/health', 'Health', '/health', lazy(() => import('../pages/health.tsx'), 'Health')],
  ['/jobs', 'Replay jobs', '/runs', lazy(lists, 'Jobs')],
  ['/jobs/:id', 'Replay job', '/runs', lazy(records, 'Job')],
  ['/search', 'Search', '', lazy(() => import('../pages/search.tsx'), 'Search')],
]

export function findPage(path: string) {
  for (const [pattern, title, section, Page] of pages) {
    const params = matchPath(pattern, path)
    if (params !== undefined) return { pattern, title, section, Page, params }
  }
  return undefined
}

/** The navigation. `key` follows `g` on the keyboard. */
export const sections = [
  { path: '/live', title: 'Live', icon: 'live', key: 'l' },
  { path: '/issues', title: 'Issues', icon: 'issues', key: 'i' },
  { path: '/runs', title: 'Runs', icon: 'runs', key: 'r' },
  { path: '/playground', title: 'Playground', icon: 'playground', key: 'p' },
  { path: '/changes', title: 'Changes', icon: 'changes', key: 'c' },
  { path: '/health', title: 'Health', icon: 'health', key: 'h' },
] as const
