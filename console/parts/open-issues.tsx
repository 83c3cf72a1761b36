/** The open problems in short, on the page that is opened first: what is wrong, and what to do next. */

import { remember, remembered } from '../browser/remembered.ts'
import { hrefOf } from '../browser/router.ts'
import { openIssues } from '../data/open-issues.ts'
import { Badge } from './badge.tsx'
import { Marked } from './marked.tsx'
import { counted } from './time.tsx'

export function OpenIssues() {
  const issues = openIssues.value ?? []
  if (issues.length === 0) return null
  return (
    <details
      class="open-issues"
      open={remembered('open-issues') !== 'closed'}
      onToggle={(event) => remember('open-issues', event.currentTarget.open ? 'open' : 'closed')}
    >
      <summary>{counted(issues.length, 'open issue')}</summary>
      <ul>
        {issues.map(({ key, severity, cause, next }) => (
          <li key={key}>
            <div>
              <Badge state={severity} />{' '}
              <a href={hrefOf('/issues')}>
                <Marked text={cause} />
              </a>
            </div>
            <span>
              <span class="next-label">Next</span>
              <Marked text={next.label} />
              {next.command !== undefined && (
                <>
                  {' '}
                  <code>
                    <Marked text={next.command} />
                  </code>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
