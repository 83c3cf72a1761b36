/** Owns the entry that gives a CommonJS module the exports of an ES module; which it has is known only at run time. */

/**
 * `module.exports` is the default export, or has it as `default`; other names are those of its properties, and
 * undefined where it lacks them.
 */
export function commonJsEntry(file: string, names: readonly string[]): string {
  const others = [...new Set(names)].filter((name) => name !== 'default').sort()
  return [
    `const whole = require(${JSON.stringify(file)})`,
    'const holds = (typeof whole === "object" && whole !== null) || typeof whole === "function"',
    'export default holds && "default" in whole ? whole.default : whole',
    ...others.map(
      (name, index) => `const export${index} = holds ? whole[${JSON.stringify(name)}] : undefined`,
    ),
    ...others.map((name, index) => `export { export${index} as ${JSON.stringify(name)} }`),
  ].join('\n')
}
