extension ControlIndex {
    /// The calls of spaces.
    static let spaces = [
        Line(
            method: "GET",
            path: "/_harness/spaces",
            purpose: "the spaces: further servers in this process, each alone in the world"
        ),
        Line(
            method: "POST",
            path: "/_harness/spaces",
            purpose: "makes a space with ports, data, simulated upstreams and a clock of its own; also seed, now, "
                + "frozen, idle_s, until and from, and all may be left out",
            example: #"{"name":"t17"}"#
        ),
        Line(method: "GET", path: "/_harness/spaces/{space}", purpose: "the addresses of a space"),
        Line(
            method: "DELETE",
            path: "/_harness/spaces/{space}",
            purpose: "ends a space; its ports and files are free when it responds"
        ),
    ]
}
