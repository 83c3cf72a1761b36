/** The open problems on the page that is opened first: how many, the worst first, each in a line with what to do next. */

import { remember, remembered } from '../browser/remembered.ts'
import { hrefOf } from '../browser/router.ts'
import { openIssues, severities } from '../data/open-issues.ts'
import { Badge, toneOf } from './badge.tsx'
import { Code, Rich } from './marked.tsx'
import { counted } from './time.tsx'

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
      class={`open-issues tone-${toneOf(worst.severity)}`}
      open={remembered('open-issues') !== 'closed'}
      onToggle={(event) => remember('open-issues', event.currentTarget.open ? 'open' : 'closed')}
    >
      <summary>
        {counted(issues.length, 'open issue')}: {counts.join(', ')}
      </summary>
      <ul>
        {issues.map(({ key, severity, cause, next }) => (
          <li key={key}>
            <Badge state={severity} />
            <a href={hrefOf('/issues')} title={cause}>
              <Rich text={cause} />
            </a>
            <span title={next.label}>
              <span class="next-label">Next</span>
              <Rich text={next.label} /> {next.command !== undefined && <Code text={next.command} />}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
