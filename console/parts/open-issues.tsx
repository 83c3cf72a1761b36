/** The open problems, the worst first: read once for all pages, and shown on the one that is opened first, each in a line with what to do next. */

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { remember, remembered } from '../browser/remembered.ts'
import { hrefOf } from '../browser/router.ts'
import { useLoaded, useReloadOn } from '../data/load.ts'
import type { IssueRecord, Page } from '../data/types.ts'
import { Badge, toneOf } from './badge.tsx'
import { Code, Rich } from './marked.tsx'
import { counted } from './words.tsx'

/** Undefined until they were read. */
export const openIssues = signal<readonly IssueRecord[] | undefined>(undefined)

/** The worst first. */
const severities: readonly IssueRecord['severity'][] = ['losing-events', 'failing', 'degraded', 'suspicious']

export function OpenIssuesReader() {
  const { data, reload } = useLoaded<Page<IssueRecord>>('/issues', { state: 'open', limit: 100 })
  useReloadOn(({ issues }) => issues === true, reload)
  useEffect(() => {
    const rankOf = ({ severity }: IssueRecord) => severities.indexOf(severity)
    openIssues.value = data?.items.toSorted((one, other) => rankOf(one) - rankOf(other))
  }, [data])
  return null
}

export function OpenIssues() {
  const issues = openIssues.value ?? []
  const [worst] = issues
  if (worst === undefined) return null
  const counts = severities.flatMap((severity) => {
    const { length } = issues.filter((issue) => issue.severity === severity)
    return length === 0 ? [] : [`${length} ${severity.replace('-', ' ')}`]
  })
  return (
    <details
      class={`card edge open-issues tone-${toneOf(worst.severity)}`}
      open={remembered('open-issues') !== 'closed'}
      onToggle={(event) => remember('open-issues', event.currentTarget.open ? 'open' : 'closed')}
    >
      <summary>
        {counted(issues.length, 'open issue')}: {counts.join(', ')}
      </summary>
      <ul class="plain">
        {issues.map(({ key, severity, cause, next }) => (
          <li key={key}>
            <Badge state={severity} />
            <a href={hrefOf('/issues')}>
              <Rich text={cause} />
            </a>
            <span>
              <b>Next</b> <Rich text={next.label} />{' '}
              {next.command !== undefined && <Code text={next.command} />}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
