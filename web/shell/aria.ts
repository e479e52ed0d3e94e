/** Attributes for screen readers as properties of elements, which Firefox has from version 119 on. */

/** The properties that the page uses, and their attributes. */
const NAMES = {
  role: "role",
  ariaBusy: "aria-busy",
  ariaCurrent: "aria-current",
  ariaDisabled: "aria-disabled",
  ariaHidden: "aria-hidden",
  ariaInvalid: "aria-invalid",
  ariaLabel: "aria-label",
  ariaLive: "aria-live",
  ariaPressed: "aria-pressed",
};

/** Defines the properties that this browser lacks. */
export function startAria(): void {
  for (const [property, attribute] of Object.entries(NAMES)) {
    if (property in Element.prototype) continue;
    Object.defineProperty(Element.prototype, property, {
      get(this: Element) {
        return this.getAttribute(attribute);
      },
      set(this: Element, value: string | null) {
        if (value === null) this.removeAttribute(attribute);
        else this.setAttribute(attribute, value);
      },
    });
  }
}
