/** The problems that are open now, read once for the navigation and for Live. */

import { signal } from '@preact/signals'
import type { IssueRecord } from './types.ts'

/** Undefined until they were read. */
export const openIssues = signal<readonly IssueRecord[] | undefined>(undefined)
