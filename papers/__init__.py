"""The papers that linkwork is built on, run again: `python -m papers.<key>` measures what each of them claims."""
