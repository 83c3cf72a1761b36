/** Owns the samples that fields are looked up in: bodies of tests, and those that a host found in files. */

import type { TestEntry } from '../config/configuration.ts'

export interface Sample {
  /** The endpoint that it was posted to. */
  readonly endpoint: string
  /** Names in lower case; absent: not known. */
  readonly headers?: Readonly<Record<string, string>>
  readonly payload: unknown
}

/** Nothing for a body that is not JSON. */
export function sampleOfTest({ value: { request } }: TestEntry): Sample | undefined {
  const { endpoint, headers = {}, body, bodyText } = request
  if (bodyText === undefined) return { endpoint, headers, payload: body ?? {} }
  try {
    return { endpoint, headers, payload: JSON.parse(bodyText) }
  } catch {
    return undefined
  }
}
