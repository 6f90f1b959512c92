/** What is typed into a filter that counts when the field is left, or with Enter. */
import { useSignal } from '@preact/signals';

type InputEvent = { readonly currentTarget: HTMLInputElement };

/**
 * A list that arrives while the user types renders its filters again, which must not put the value
 * of the address over what is typed.
 *
 * @param given the value of the address.
 * @returns attributes of the input, and what ends the typing.
 */
export function useTyped(given: string) {
  const typed = useSignal<string | null>(null);
  const end = () => {
    typed.value = null;
  };
  const onInput = ({ currentTarget }: InputEvent) => {
    typed.value = currentTarget.value;
  };
  return { field: { value: typed.value ?? given, onInput }, end };
}
