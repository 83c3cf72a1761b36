/** Issues: each open problem once, with its cause and the next step. */

import { useState } from 'preact/hooks'
import { hrefOf, type PageProps } from '../browser/router.ts'
import type { IssueRecord } from '../data/types.ts'
import { Badge, toneOf } from '../parts/badge.tsx'
import { ActionButton } from '../parts/controls.tsx'
import { Command } from '../parts/copy.tsx'
import { Rich } from '../parts/marked.tsx'
import { Empty } from '../parts/notice.tsx'
import { link, text } from '../parts/record.tsx'
import { counted, Time } from '../parts/words.tsx'
import { type Kind, List, stateFilter } from './lists.tsx'

const issues: Kind<IssueRecord> = {
  title: 'Issues',
  path: '/issues',
  order: 'newest first',
  filters: [stateFilter(['open', 'muted', 'resolved', 'all'])],
  viewOf: (issue, reload) => <Issue issue={issue} reload={reload} />,
  isRelevant: (frame) => frame.issues === true,
  empty: ({ state }) => (
    <Empty title={state === 'open' ? 'No problem is open.' : 'There is none.'}>
      A problem shows here once, however many requests it costs, and goes when it is over.
    </Empty>
  ),
}

export const Issues = (props: PageProps) => <List kind={issues} {...props} />

function Issue({ issue, reload }: { readonly issue: IssueRecord; readonly reload: () => void }) {
  const { key, code, severity, subject, cause, next, count, first, last, state, mutedUntil } = issue
  const page = next.command && pageOf(next.command)
  return (
    <article class={`card edge issue tone-${state === 'open' ? toneOf(severity) : 'quiet'}`}>
      <header class="line">
        <Badge state={severity} /> <code>{code}</code> {text(subject)}
        <span class="quiet">
          {counted(count, 'time')}, last <Time at={last} isAgo />, first <Time at={first} />
        </span>
        {state !== 'open' && <Badge state={state} />}
        {mutedUntil !== undefined && state === 'muted' && (
          <span>
            until <Time at={mutedUntil} />
          </span>
        )}
      </header>
      <h2>
        <Rich text={cause} />
      </h2>
      <p>
        <b>Next</b> <Rich text={next.label} />
      </p>
      {next.command !== undefined && <Command text={next.command} />}
      <div class="toolbar">
        {next.action !== undefined && (
          <ActionButton
            {...next.action}
            path={next.action.path.replace(/^\/api(?=\/)/, '')}
            onDone={reload}
            renderAnswer={resultOf}
            isPrimary
          />
        )}
        {page !== undefined && (
          <a class="button" href={page}>
            Open it here
          </a>
        )}
        <span class="line end">
          {state === 'open' ? (
            <>
              <ActionButton path="/issues/resolve" body={{ key }} onDone={reload} />
              <Mute issueKey={key} reload={reload} />
            </>
          ) : (
            <ActionButton path="/issues/reopen" body={{ key }} onDone={reload} />
          )}
        </span>
      </div>
    </article>
  )
}

/** The job that was begun, or for how many it was carried out and why not for others. */
function resultOf(answer: unknown) {
  const { job, total, done, refused } = (answer ?? {}) as {
    readonly job?: string
    readonly total?: number
    readonly done?: number
    readonly refused?: readonly { readonly reason: string }[]
  }
  if (job !== undefined)
    return link('/jobs', job, total === undefined ? 'Its progress' : counted(total, 'request'))
  const [first] = refused ?? []
  if (done === undefined) return null
  return (
    <span>
      {done} done{first && `, ${refused?.length} refused: `}
      {text(first?.reason)}
    </span>
  )
}

/** Pages by the verb of a command, with a state to filter by. Options of commands are filters too. */
const pages: Readonly<Record<string, readonly [path: string, state?: string]>> = {
  requests: ['/live'],
  retry: ['/runs', 'failed'],
  resume: ['/runs', 'parked'],
  // A parked delivery can be sent to another address on its page.
  route: ['/deliveries', 'parked'],
  replay: ['/live'],
  check: ['/changes'],
  spend: ['/health'],
}

function pageOf(command: string): string | undefined {
  const id = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/.exec(command)?.[0]
  if (id !== undefined) return hrefOf('/search', { q: id })
  const verb = command.includes('--parked') ? 'route' : command.split(' ')[1]
  const [path, state] = pages[verb ?? ''] ?? []
  const options = [...command.matchAll(/ --(\w+) ([^-]\S*)/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
  return path && hrefOf(path, { state, ...Object.fromEntries(options) })
}

const dayMs = 86_400_000

function Mute({ issueKey, reload }: { readonly issueKey: string; readonly reload: () => void }) {
  const [days, setDays] = useState(1)
  return (
    <>
      <ActionButton
        path="/issues/mute"
        body={{ key: issueKey, until: Date.now() + days * dayMs }}
        onDone={reload}
      />
      <label>
        <span class="visually-hidden">For how long</span>
        <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
          <option value={1}>a day</option>
          <option value={7}>a week</option>
          <option value={30}>30 days</option>
        </select>
      </label>
    </>
  )
}
