import { Component } from 'preact'

/** A part of the page that is drawn anew only when one of its properties is another one: for rows of long lists. */
export abstract class PureComponent<Props extends object> extends Component<Props> {
  override shouldComponentUpdate(next: Readonly<Props>): boolean {
    const names = Object.keys(next) as (keyof Props)[]
    return names.some((name) => next[name] !== this.props[name])
  }
}
