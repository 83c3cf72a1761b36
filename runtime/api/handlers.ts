/** Defines the type of the handler of each declared route, which follows from its declaration. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RouteDeclaration, Routes } from './routes/declaration.ts'
import type { ObjectOf, Properties, ValueOf } from './routes/schema.ts'

/** The input of a handler. The query and the body have passed their schemas. */
export interface Call<Of extends RouteDeclaration> {
  /** An `id` is in lower case. */
  readonly params: Readonly<Record<ParameterOf<Of['path']>, string>>
  readonly query: Of extends { readonly query: infer Query extends Properties } ? ObjectOf<Query> : unknown
  readonly body: Of extends { readonly body: infer Body } ? ValueOf<Body> : undefined
  /** The name of the token that let the request in. Empty for a sign-in. */
  readonly by: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Returns what is answered; for another status than 200 it calls `reply.code` before. A refusal returns the reply. */
export type Handler<Of extends RouteDeclaration> = (call: Call<Of>) => Promise<AnswerOf<Of> | FastifyReply>

export type Handlers<Of extends Routes> = { readonly [Name in keyof Of]: Handler<Of[Name]> }

type AnswerOf<Of extends RouteDeclaration> = ValueOf<Of['answers'][keyof Of['answers']]>

type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** True if the client has disconnected, so that no more work needs to be done for it. */
export function hasLeft({ raw }: FastifyReply): boolean {
  return raw.destroyed
}
