/** Owns how long indented JSON will be, told before it is made: nesting multiplies it. */

/** Of `JSON.stringify(value, undefined, indent)`, from the compact JSON of the value. Stops counting above `most`. */
export function indentedLength(json: string, indent: number, most: number): number {
  let length = json.length
  let depth = 0
  for (let index = 0; index < json.length && length <= most; index++) {
    const character = json[index]
    if (character === '"') index = endOfText(json, index)
    else if (character === ':') length += 1
    else if (character === ',') length += 1 + depth * indent
    else if (character === ']' || character === '}') length += 1 + --depth * indent
    else if (character === '[' || character === '{') {
      // An empty list or object stays on its line.
      if (json[index + 1] === ']' || json[index + 1] === '}') index++
      else length += 1 + ++depth * indent
    }
  }
  return length
}

/** The index of the quotation mark that ends the text. */
function endOfText(json: string, start: number): number {
  let index = start + 1
  while (json[index] !== '"') index += json[index] === '\\' ? 2 : 1
  return index
}
