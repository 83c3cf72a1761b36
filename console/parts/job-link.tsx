/** Leads to the job that an order has begun. */

import { hrefOf } from '../browser/router.ts'
import { counted } from './time.tsx'

/** Nothing for the answer of an order that begins no job. */
export function JobLink({ answer }: { readonly answer: unknown }) {
  const { job, total } = (answer ?? {}) as { readonly job?: unknown; readonly total?: unknown }
  if (typeof job !== 'string') return null
  return (
    <a href={hrefOf(`/jobs/${job}`)}>
      {typeof total === 'number' ? counted(total, 'request') : 'Its progress'}
    </a>
  )
}
