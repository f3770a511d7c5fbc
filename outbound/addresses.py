"""Which internet addresses a webhook may reach: public unicast ones, and nothing that wraps another kind.

The tables follow IANA's special-purpose registries. They are written out because `is_global` of the standard library
calls multicast global, and differs between patch releases of one Python.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

KINDS = (
    "documentation",
    "link_local",
    "loopback",
    "multicast",
    "private",
    "reserved",
    "shared",
    "transition",
    "unspecified",
)

_SPECIAL_IPV4 = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "reserved"),  # looks public, and is the host's own agent inside every Azure machine
        ("169.254.0.0/16", "link_local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "transition"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_SPECIAL_IPV6 = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "transition"),  # IPv4-compatible
        ("64:ff9b:1::/48", "transition"),  # NAT64 for local use: where the IPv4 address sits is the network's secret
        ("2001:db8::/32", "documentation"),
        ("2001::/23", "transition"),  # Teredo, ORCHID, benchmarking
        ("2002::/16", "transition"),  # 6to4
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link_local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
# Both carry an IPv4 address in their last 32 bits, which decides. NAT64 must not be refused whole: it is how a machine
# with IPv6 alone reaches every receiver that has IPv4 alone.
_CARRIES_IPV4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
_GLOBAL_UNICAST = IPv6Network("2000::/3")


def refused_kind(address: str) -> str | None:
    """Why an address in its numeric form may not be reached (one of `KINDS`), or None where it may.

    Raises ValueError where `address` is not an address.
    """
    parsed = ip_address(address)
    return _kind_of_ipv4(parsed) if isinstance(parsed, IPv4Address) else _kind_of_ipv6(parsed)


def _kind_of_ipv4(address: IPv4Address) -> str | None:
    return next((kind for network, kind in _SPECIAL_IPV4 if address in network), None)


def _kind_of_ipv6(address: IPv6Address) -> str | None:
    plain = IPv6Address(int(address))  # without a zone id
    if any(plain in network for network in _CARRIES_IPV4):
        return _kind_of_ipv4(IPv4Address(int(plain) & 0xFFFFFFFF))
    special = next((kind for network, kind in _SPECIAL_IPV6 if plain in network), None)
    return special or (None if plain in _GLOBAL_UNICAST else "reserved")
