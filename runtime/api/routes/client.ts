/** The API as its clients see it, the command line and the console: requests and answers by the name of their route. */

import type { RouteDeclaration } from './declaration.ts'
import { routes } from './index.ts'
import type { ObjectOf, Properties, ValueOf } from './schema.ts'

type Routes = typeof routes
export type RouteName = keyof Routes

/** The successful answer of a route. */
export type Answer<Name extends RouteName> = ValueOf<Routes[Name]['answers'][keyof Routes[Name]['answers']]>

/** An item of a list. */
export type ItemOf<Name extends RouteName> =
  Answer<Name> extends { readonly items: readonly (infer Item)[] } ? Item : never

/** The input of a route. */
export interface Asked<Name extends RouteName> {
  /** The parameters of the path. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Routes[Name] extends { readonly query: infer Query extends Properties }
    ? ObjectOf<Query>
    : never
  readonly body?: Routes[Name] extends { readonly body: infer Body } ? ValueOf<Body> : never
}

/** The method and the address of a request, from the root of the gateway. */
export function requestOf<Name extends RouteName>(
  name: Name,
  { params = {}, query = {} as never }: Pick<Asked<Name>, 'params' | 'query'>,
): { readonly method: RouteDeclaration['method']; readonly address: string } {
  const { method, path }: RouteDeclaration = routes[name]
  const filled = path.replace(/:(\w+)/g, (_, parameter) => encodeURIComponent(params[parameter] ?? ''))
  const present = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(present.map(([key, value]): [string, string] => [key, String(value)]))
  return { method, address: `/api${filled}${search.size === 0 ? '' : `?${search}`}` }
}
