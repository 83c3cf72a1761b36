/** Shows why each mapping did or did not match, and what a request would cause. */

import type { CandidateTrace, Explanation, Stop } from '../data/types.ts'
import { Badge } from './badge.tsx'
import { Marked } from './marked.tsx'

export interface TraceProps {
  readonly explanation: Explanation
  /** Where a dry run stopped transforms that wanted to reach out. */
  readonly stops?: readonly Stop[]
}

export function Trace({ explanation, stops = [] }: TraceProps) {
  const { candidates, actions = [] } = explanation
  return (
    <div class="trace">
      {candidates.length === 0 && <p class="quiet">No mapping covers this endpoint.</p>}
      <ol class="candidates">
        {candidates.map((candidate) => (
          <Candidate key={candidate.place} candidate={candidate} />
        ))}
      </ol>
      {actions.map((action) => (
        <dl key={`${action.mapping} ${action.index ?? ''}`} class="facts">
          {action.fields.map(({ field, value, from }) => (
            <div key={field}>
              <dt>
                <Marked text={field} /> <span class="quiet">{from}</span>
              </dt>
              <dd>
                <Marked text={value} />
              </dd>
            </div>
          ))}
        </dl>
      ))}
      {stops.map(({ module, target, place }) => (
        <p key={`${module} ${target}`} class="notice">
          The dry run stopped <Marked text={module} /> before it reached <Marked text={target} />
          {place !== undefined && (
            <>
              {' '}
              at <Marked text={place} />
            </>
          )}
          .
        </p>
      ))}
    </div>
  )
}

function Candidate({ candidate }: { readonly candidate: CandidateTrace }) {
  const { mapping, place, verdict, clause } = candidate
  return (
    <li class={`candidate is-${verdict}`}>
      <p>
        <Badge state={verdict} /> <strong>{<Marked text={mapping} />}</strong>{' '}
        <span class="quiet">
          <Marked text={place} />
        </span>
      </p>
      {clause !== undefined && (
        <dl class="clause">
          <div>
            <dt>clause</dt>
            <dd>
              <code>
                <Marked text={clause.path} />
              </code>
            </dd>
          </div>
          <div>
            <dt>expected</dt>
            <dd>
              <Marked text={clause.expected} />
            </dd>
          </div>
          <div>
            <dt>actual</dt>
            <dd>
              {clause.error !== undefined ? (
                <Marked text={clause.error} />
              ) : clause.actual === undefined ? (
                <em>nothing: the payload has no such field</em>
              ) : (
                <code>
                  <Marked text={clause.actual} />
                </code>
              )}
            </dd>
          </div>
        </dl>
      )}
    </li>
  )
}
