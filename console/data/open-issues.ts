/** The problems that are open now, the worst first, read once for the navigation, Live and Health. */

import { signal } from '@preact/signals'
import type { IssueRecord } from './types.ts'

/** Undefined until they were read. */
export const openIssues = signal<readonly IssueRecord[] | undefined>(undefined)

/** The worst first. */
export const severities: readonly IssueRecord['severity'][] = [
  'losing-events',
  'failing',
  'degraded',
  'suspicious',
]
