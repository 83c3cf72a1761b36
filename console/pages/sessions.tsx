/** Sessions, and the messages of one. */

import { goBack, hrefOf, type PageProps } from '../browser/router.ts'
import { useLoaded, useLoadedList, useReloadOn } from '../data/load.ts'
import type { Session as SessionRecord, SessionSummary } from '../data/types.ts'
import { Icon } from '../parts/icons.tsx'
import type { Row } from '../parts/list.tsx'
import { LoadedRows } from '../parts/loaded-rows.tsx'
import { Marked, TextBlock } from '../parts/marked.tsx'
import { Empty, Loading, Problem } from '../parts/notice.tsx'
import { SectionTabs } from '../parts/section-tabs.tsx'
import { counted, Time } from '../parts/time.tsx'

export default function Sessions() {
  const list = useLoadedList<SessionSummary>('/sessions', { limit: 100 })
  useReloadOn(({ runs = [] }) => runs.length > 0, list.reload)
  return (
    <>
      <h1>Sessions</h1>
      <SectionTabs />
      <LoadedRows list={list} what="sessions" label="Sessions, the last used first" rowOf={rowOf}>
        <Empty title="There is no session yet.">The first turn of an agent begins one.</Empty>
      </LoadedRows>
    </>
  )
}

function rowOf({ key, turns, lastAt }: SessionSummary): Row {
  return {
    id: key,
    href: hrefOf(`/sessions/${encodeURIComponent(key)}`),
    content: (
      <>
        <span class="row-time">
          <Time at={lastAt} />
        </span>
        <span class="row-name">
          <Marked text={key} />
        </span>
        <span class="row-about">{counted(turns, 'turn')}</span>
      </>
    ),
  }
}

const roles = { user: 'To the agent', assistant: 'The agent', summary: 'Summary of older messages' } as const

export function Session({ params: { key = '' } }: PageProps) {
  const { data, error, reload } = useLoaded<SessionRecord>(`/sessions/${encodeURIComponent(key)}`)
  useReloadOn(({ runs = [] }) => runs.length > 0, reload)
  return (
    <article>
      <button type="button" class="back" onClick={() => goBack('/sessions')}>
        <Icon name="back" /> Sessions
      </button>
      <h1>
        <Marked text={key} />
      </h1>
      <p>
        <a href={hrefOf('/runs', { sessionKey: key, kind: 'all' })}>Runs of this session</a>
      </p>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading what="the session" />}
      {data?.messages?.length === 0 && <Empty title="It holds no messages." />}
      {data?.messages !== undefined && data.messages.length > 0 && (
        <ol class="messages" aria-label="Messages, oldest first">
          {data.messages.map(({ role, text, at, turn }, index) => (
            <li key={index} class={`message of-${role}`}>
              <p class="quiet">
                <strong>{roles[role]}</strong> <Time at={at} /> <a href={hrefOf(`/runs/${turn}`)}>run</a>
              </p>
              <TextBlock label={roles[role]} text={text} />
            </li>
          ))}
        </ol>
      )}
    </article>
  )
}
