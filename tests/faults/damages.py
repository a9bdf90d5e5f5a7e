"""Ways in which the bytes of a file change: each takes a bytearray and a source of chance."""

PAGE = 4096  # of SQLite, unless it is told otherwise


def flip(content, chance, at):
    content[at] ^= 1 << chance.randrange(8)


def flip_anywhere(content, chance):
    flip(content, chance, chance.randrange(len(content)))


def flip_structure(content, chance):
    """In what SQLite keeps at the beginning of each page: which cells there are, and where."""
    flip(content, chance, min(chance.randrange(len(content) // PAGE) * PAGE + chance.randrange(64), len(content) - 1))


def change_byte(content, chance):
    content[chance.randrange(len(content))] = chance.randrange(256)


def zero(content, chance, size):
    at = chance.randrange(max(len(content) // size, 1)) * size
    content[at:at + size] = bytes(len(content[at:at + size]))


def zero_page(content, chance):
    zero(content, chance, PAGE)


def zero_sector(content, chance):
    zero(content, chance, 512)


def two_pages(content, chance):
    one, other = (at * PAGE for at in chance.sample(range(len(content) // PAGE), 2))
    return slice(one, one + PAGE), slice(other, other + PAGE)


def swap_pages(content, chance):
    one, other = two_pages(content, chance)
    content[one], content[other] = content[other], content[one]


def misplace_page(content, chance):
    """A write that went to another page."""
    one, other = two_pages(content, chance)
    content[one] = content[other]


def truncate(content, chance):
    del content[chance.randrange(len(content)):]


def truncate_to_pages(content, chance):
    del content[chance.randrange(len(content) // PAGE) * PAGE:]


DAMAGES = [flip_anywhere, flip_structure, flip_structure, flip_anywhere, change_byte, zero_page, flip_structure, zero_sector,
           swap_pages, flip_anywhere, misplace_page, flip_structure, truncate, truncate_to_pages]
