/** Reads tables of mappings, payloads and decisions, for tests of what a configuration does with a request. */

import assert from 'node:assert/strict'
import { parse } from 'yaml'
import { testBlocks } from '../config/blocks-fixture.ts'
import { fits } from '../config/load-fixture.ts'
import { isRecord } from '../config/values/is-record.ts'
import type { Decision, HookRequest } from '../resolve/model/decision.ts'
import type { ActionTrace } from '../resolve/model/trace.ts'
import { compileFixture, type Fixture, type Mapping, requestOf } from './fixture.ts'

/**
 * Registers one test for each title of a table, which is a line that begins with `#`; the lines below it are its cases:
 * `mappings ⇒ payload @ request ⇒ expected`. A title may end with ` @ fixture`, which may have a `request` for all of its
 * cases. What `common` has is added to all mappings; a case without mappings has that one, or none. Everything is YAML; a payload that is JSON is sent verbatim. Expected is
 * - the fields of the action that is made, or a list of those of several: `null` for one that is absent, and a string
 *   between slashes is a regular expression; `warns` are the warnings for the sender, `explain` the fields as explained,
 *   each as `origin: value`;
 * - the code of a refusal with its pointers, `BLANK_TEXT /message`, or a map of it with `says` for its sentence and `reason` for the operator's;
 * - the outcome with its reason: `skipped: …`;
 * - `load` with the codes of a mapping that does not load, or `warn` with those of its warnings, and `says`.
 */
export function testDecisions(table: string, common: Partial<Mapping> = {}, fixture: Fixture = {}): void {
  testBlocks(table, (row, _context, about = '{}') => {
    const { request = {}, ...own } = parse(about) as Fixture & { readonly request?: Partial<HookRequest> }
    return testRow(row, { common, fixture: { ...fixture, ...own }, request })
  })
}

interface Shared {
  readonly common: Partial<Mapping>
  readonly fixture: Fixture
  readonly request: Partial<HookRequest>
}

async function testRow(row: string, { common, fixture, request }: Shared): Promise<void> {
  const [wanted = '', sent = '', written] = row.split(' ⇒ ').toReversed()
  const isAlone = written === undefined && Object.keys(common).length === 0
  const mappings = isAlone
    ? []
    : [parse(written ?? '{}')].flat().map((each) => ({ ...common, ...each }) as Mapping)
  const [payload = '', more = '{}'] = sent.split(' @ ')
  const expected: unknown = /^[{[]/.test(wanted) ? parse(wanted) : wanted
  const compiled = await compileFixture(mappings, fixture)
  const found = (compiled.ok ? compiled.warnings : compiled.diagnostics).map(({ code }) => code)
  if (isRecord(expected) && ('load' in expected || 'warn' in expected)) {
    assert.equal(compiled.ok, 'warn' in expected, row)
    assert.deepEqual(found, [expected['load'] ?? expected['warn']].flat(), row)
    const messages = compiled.ok ? compiled.warnings : compiled.diagnostics
    fits(expected['says'], messages[0]?.message, row)
    return
  }
  assert.ok(compiled.ok, `${row}: ${found}`)
  const hookRequest = requestOf(asJson(payload), { ...request, ...parse(more) })
  const decision = await compiled.snapshot.resolve(hookRequest)
  const { explain, ...rest } = isRecord(expected) ? expected : {}
  assertDecision(decision, isRecord(expected) ? rest : expected, row)
  if (explain === undefined) return
  const { actions } = await compiled.snapshot.explain(hookRequest)
  fits(explain, fieldsOf(actions[0]), row)
}

function assertDecision(decision: Decision, expected: unknown, row: string): void {
  const what = `${row}\n${JSON.stringify(decision)}`
  if (typeof expected === 'string') {
    assertCode(decision, expected, what)
    return
  }
  const { code, says, reason, warns, skipped, ignored, ...action } = Array.isArray(expected)
    ? {}
    : (expected as Wanted)
  if (typeof code === 'string') assertCode(decision, code, what)
  if (says !== undefined) fits(says, 'message' in decision ? decision.message : undefined, what)
  fits(reason, 'reason' in decision ? decision.reason : undefined, what)
  const others = Object.entries({ skipped, ignored }).filter(([, reason]) => reason !== undefined)
  for (const [outcome, reason] of others) fits({ outcome, reason }, decision, what)
  if (code !== undefined || says !== undefined || others.length > 0) return
  assert.ok(decision.outcome === 'accepted', what)
  fits(warns, decision.warnings?.map(({ pointer, message }) => `${pointer} ${message}`) ?? [], what)
  fits(Array.isArray(expected) ? expected : [action], decision.actions, what)
}

function assertCode(decision: Decision, expected: string, what: string): void {
  const pointers = 'details' in decision ? decision.details.map(({ pointer }) => pointer || '""') : []
  assert.equal('code' in decision ? [decision.code, ...pointers].join(' ') : '', expected, what)
}

type Wanted = Readonly<Record<string, unknown>>

/** Returns each field of an explained action as `origin: value`. */
export function fieldsOf(action: ActionTrace | undefined): Record<string, string> {
  return Object.fromEntries(
    (action?.fields ?? []).map(({ field, value, from }) => [field, `${from}: ${value}`]),
  )
}

/** Returns JSON verbatim, and YAML as its value. */
function asJson(text: string): unknown {
  try {
    JSON.parse(text)
    return text
  } catch {
    return parse(text)
  }
}
