import { Component } from 'preact'

/** A component that renders again only when a property changes, for rows of long lists. */
export abstract class PureComponent<Props extends object> extends Component<Props> {
  override shouldComponentUpdate(next: Readonly<Props>): boolean {
    const names = Object.keys(next) as (keyof Props)[]
    return names.some((name) => next[name] !== this.props[name])
  }
}
