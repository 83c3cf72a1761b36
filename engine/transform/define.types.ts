/** Transforms that must type-check and transforms that must not, checked by every run of the compiler; used by tests only. */

import { defineTransform, exampleContext, type Prompt, prompt, type TransformContext } from './define.ts'

interface Push {
  readonly ref: string
  readonly commits?: readonly { readonly message: string; readonly author?: string }[]
}
type Context = TransformContext<Push>

export const anyPayload = defineTransform(({ payload }) => ({ message: payload.any.thing[0] }))
export const typedPayload = defineTransform<Push>(({ payload }) => ({ message: payload.ref.slice(11) }))
export const typedContext = defineTransform(({ payload }: Context) => ({ message: payload.ref.slice(11) }))
export const asynchronous = defineTransform(async ({ payload }: Context) => {
  await Promise.resolve()
  return { message: prompt`Pushed to ${payload.ref}` }
})

type Parameterised = TransformContext<Push, { team: string }>
export const typedParameters = defineTransform(({ with: { team } }: Parameterised) => ({ to: team.trim() }))
export const anyParameters = defineTransform(({ with: { team } }) => ({ to: team }))

export const someReturns = defineTransform(({ payload, headers }: Context) => {
  if (headers['x-github-event'] !== 'push') return null
  if (payload.commits === undefined) return
  return payload.ref === '' ? { action: 'agent', message: payload.ref } : { action: 'wake', text: 'x' }
})
export const asyncSomeReturns = defineTransform(async ({ payload }: Context) => {
  if (payload.ref === '') return null
  if (payload.commits === undefined) return
  return { mode: payload.commits.length > 9 ? 'now' : 'next-heartbeat' }
})
export const noReturn = defineTransform(({ payload }) => void payload.seen?.())
export const asyncNoReturn = defineTransform(async ({ payload }) => void payload.seen?.())

export const spreadBase = defineTransform(({ base }) => ({ ...base, name: 'Git' }))
export const prefixed = defineTransform(({ base }) => ({ message: prompt`Be brief. ${base.message}` }))
export const conditionalSpread = defineTransform(({ payload, base }: Context) => ({
  message: payload.ref,
  ...(base.channel === undefined && { channel: 'slack', to: 'C1' }),
}))

export const listWithNulls = defineTransform(({ payload }: Context) => [
  null,
  undefined,
  { text: payload.ref },
])
export const mapped = defineTransform(
  ({ payload }: Context) =>
    payload.commits?.map(({ message, author }) =>
      author === undefined ? null : { message: prompt`${author}: ${message}`, thinking: 'low' },
    ) ?? null,
)
export const declared = defineTransform<Push>(({ payload }) => {
  const lines = prompt.join(payload.commits?.map(({ message }) => prompt`- ${message}`) ?? [], '\n')
  return { message: prompt`New:\n${lines}`, deliverTo: [{ channel: 'slack', to: 'C1' }, { channel: 'last' }] }
})
export const cleared = defineTransform(() => ({
  channel: null,
  to: null,
  deliver: false,
  timeoutSeconds: 60,
}))

/** Tests read results without casts. */
export async function readResults(): Promise<Prompt | undefined> {
  const listed = listWithNulls(exampleContext({ payload: { ref: 'refs/heads/main' } }))
  const text: string | undefined = listed[2]?.text
  const action = await asynchronous(exampleContext({ payload: { ref: `${text}` }, headers: { a: 'b' } }))
  return action.message
}

// @ts-expect-error no action has such a field
export const misspelt = defineTransform(({ payload }: Context) => ({ message: payload.ref, sesionKey: 'x' }))
// @ts-expect-error nor in one branch
export const misspeltInBranch = defineTransform(({ payload }: Context) => {
  if (payload.ref === '') return null
  return { message: payload.ref, sesionKey: 'x' }
})
// @ts-expect-error nor behind a promise
export const misspeltLater = defineTransform(async ({ payload }: Context) => {
  if (payload.ref === '') return
  return { message: payload.ref, sesionKey: 'x' }
})
// @ts-expect-error nor in a list
export const misspeltInList = defineTransform(({ payload }: Context) => [
  null,
  { text: payload.ref, kind: 'wake' },
])
// @ts-expect-error nor alone
export const misspeltAlone = defineTransform<Push>(({ payload }) => ({ mesage: payload.ref }))
// @ts-expect-error there is no such mode
export const wrongMode = defineTransform(() => ({ mode: 'later' }))
// @ts-expect-error nor there
export const wrongModeTyped = defineTransform<Push>(() => ({ wakeMode: 'later' }))
// @ts-expect-error nor such an action
export const wrongAction = defineTransform(async () => ({ action: 'run', message: 'x' }))
// @ts-expect-error a boolean is no text
export const wrongDeliver = defineTransform(() => ({ message: 'x', deliver: 'false' }))
// @ts-expect-error a number is no text
export const wrongTo = defineTransform(({ payload }: Context) => [{ message: payload.ref, to: 42 }])
// @ts-expect-error a target has a channel
export const wrongTarget = defineTransform(() => ({ message: 'x', deliverTo: [{ to: 'C1' }] }))
// @ts-expect-error and nothing but an address besides
export const strangeTarget = defineTransform(() => ({ deliverTo: [{ channel: 'c', too: 'C1' }] }))
// @ts-expect-error where a reply goes is no prompt
export const promptedChannel = defineTransform(() => ({ channel: prompt`slack` }))
// @ts-expect-error false is none of the answers
export const falseReturned = defineTransform(({ payload }: Context) => payload.ref !== '' && { message: 'x' })
// @ts-expect-error a text alone is no action
export const textReturned = defineTransform(({ payload }: Context) => payload.ref)
// @ts-expect-error the payload has no such field
export const wrongPayload = defineTransform(({ payload }: Context) => ({ message: payload.branch }))
// @ts-expect-error nor has the context
export const wrongContext = defineTransform(({ url }) => ({ message: url }))
export const changedBase = defineTransform(({ base }) => {
  // @ts-expect-error what it is given is not its own to change
  base.message = 'x'
})
