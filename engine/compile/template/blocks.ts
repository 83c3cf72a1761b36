/** Compiles the block helpers `if`, `unless`, `each` and `with`, each with its `else`. */

import { isHarmless } from '../../boundary/harmless.ts'
import { isExactNumber } from '../../payload/exact-numbers.ts'
import { type Output, spend } from '../../resolve/render/output.ts'
import { type Environment, inside } from './environment.ts'
import { type Frame, innerFrame, type Reader, type Step } from './frame.ts'
import { type Block, type Program, TemplateError } from './grammar.ts'
import { isTruthy } from './helpers.ts'

interface BlockParts {
  readonly block: Block
  readonly environment: Environment
  /** The one argument of the block. */
  readonly subject: Reader
  /** Compiles the content of a part, or returns undefined for a part that the block does not have. */
  readonly steps: (program: Program | undefined, environment: Environment) => Step
}

export const blockNames = ['if', 'unless', 'each', 'with'] as const
export type BlockName = (typeof blockNames)[number]

export const blockCompilers: Readonly<Record<BlockName, (parts: BlockParts) => Step>> = {
  if: (parts) => compileCondition(parts, true),
  unless: (parts) => compileCondition(parts, false),
  each: compileEach,
  with: compileWith,
}

function compileCondition({ block, environment, subject, steps }: BlockParts, wanted: boolean): Step {
  refuseParameters(block, environment, 0)
  const includeZero =
    block.hash?.pairs.some(({ key, value }) => key === 'includeZero' && isTrue(value)) ?? false
  const whole = steps(block.program, environment)
  const inverse = steps(block.inverse, environment)
  return (frame, output) => {
    const value = subject.read(frame, output)
    const met = isTruthy(value) || (includeZero && value === 0)
    return met === wanted ? whole(frame, output) : inverse(frame, output)
  }
}

function isTrue(value: { readonly type: string }): boolean {
  return value.type === 'BooleanLiteral' && 'value' in value && value.value === true
}

/** The number of passes of a loop between two checks of the clock. */
const passesBetweenChecks = 256

function compileEach({ block, environment, subject, steps }: BlockParts): Step {
  refuseParameters(block, environment, 2)
  // Nested loops multiply, and the payload decides how often they run.
  const isNested = environment.loop(0) !== undefined
  const pass = steps(block.program, inside(environment, 'each', block.program?.blockParams))
  const inverse = steps(block.inverse, environment)

  return (frame, output) => {
    const value = subject.read(frame, output)
    if (typeof value !== 'object' || value === null || isExactNumber(value)) return inverse(frame, output)
    const keys = Array.isArray(value) ? undefined : Object.keys(value)
    const count = keys?.length ?? (value as readonly unknown[]).length
    if (count === 0) return inverse(frame, output)

    const name = subject.name(frame)
    if (isNested) frame.scope.containment.beginUnbounded()
    for (let index = 0; index < count; index++) {
      // A pass costs a byte even if it prints nothing, since otherwise nested loops over a hostile payload would not end.
      spend(output.meter, 1)
      if (index % passesBetweenChecks === 0) frame.scope.containment.checkTime()
      const key = keys?.[index] ?? index
      const item = (value as Record<string | number, unknown>)[key]
      const place = { key, index, last: index === count - 1 }
      pass(innerFrame(frame, item, passName(name, key, index), place), output)
    }
  }
}

/** A key that the payload chose may instruct a model, so its number replaces it unless it is harmless. */
function passName(name: string, key: string | number, index: number): string {
  return `${name}.${typeof key === 'string' && isHarmless(key) ? key : index}`
}

function compileWith({ block, environment, subject, steps }: BlockParts): Step {
  refuseParameters(block, environment, 1)
  const whole = steps(block.program, inside(environment, 'with', block.program?.blockParams))
  const inverse = steps(block.inverse, environment)
  return (frame: Frame, output: Output) => {
    const value = subject.read(frame, output)
    const met = isTruthy(value) || value === 0
    return met ? whole(innerFrame(frame, value, subject.name(frame)), output) : inverse(frame, output)
  }
}

function refuseParameters(block: Block, environment: Environment, most: number): void {
  const given = block.program?.blockParams?.length ?? 0
  if (given <= most) return
  throw new TemplateError(
    `the block takes at most ${most} block parameters, not ${given}`,
    environment.offsetOf(block),
  )
}
