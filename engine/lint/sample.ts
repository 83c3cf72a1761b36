/** Matches samples against mappings. Samples are the bodies of tests, and payloads that a host read from files. */

import { silent } from '../compile/fields/report.ts'
import { compileMatch } from '../compile/match/compile-match.ts'
import type { MappingSource, TestEntry } from '../config/configuration.ts'
import { createScope } from '../resolve/model/scope.ts'
import type { FailedClause } from '../resolve/model/trace.ts'

export interface Sample {
  /** The endpoint that the payload was posted to. */
  readonly endpoint: string
  /** The names are in lower case. Absent: the headers are not known. */
  readonly headers?: Readonly<Record<string, string>>
  readonly payload: unknown
}

/** Returns undefined for a body that is not JSON. */
export function sampleOfTest({ value: { request } }: TestEntry): Sample | undefined {
  const { endpoint, headers = {}, body, bodyText } = request
  if (bodyText === undefined) return { endpoint, headers, payload: body ?? {} }
  try {
    return { endpoint, headers, payload: JSON.parse(bodyText) }
  } catch {
    return undefined
  }
}

type Match = NonNullable<MappingSource['match']>

/** True if a sample satisfies the match. */
export async function hasSample(match: Match, samples: readonly Sample[]): Promise<boolean> {
  const explain = createExplain(match)
  for (const sample of samples) if ((await explain(sample)) === undefined) return true
  return false
}

/** Returns what explains why a sample does not match. Headers that are not known count as satisfying the match. */
export function createExplain(match: Match): (sample: Sample) => Promise<FailedClause | undefined> {
  const whole = compileMatch(match, silent)
  const withoutHeaders = compileMatch({ ...match, headers: undefined }, silent)
  return ({ endpoint, headers, payload }) => {
    const { explain } = headers === undefined ? withoutHeaders : whole
    const request = {
      endpoint,
      headers: headers ?? {},
      query: {},
      payload,
      // Only expressions read it.
      get rawBody() {
        return Buffer.from(JSON.stringify(payload))
      },
      now: 0,
    }
    return explain(createScope(request))
  }
}
