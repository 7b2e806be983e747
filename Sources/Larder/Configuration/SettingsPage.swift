/// The reference of all settings, `docs/configuration.md`, made from ``Setting/catalogue``.
enum SettingsPage {
    /// Returns the page as GitHub Flavored Markdown.
    static func markdown() -> String {
        let sections = groups.map { "## \($0.name)\n\n" + table($0.settings) }
        return ([introduction, upstreams] + sections + [mounts, exposure, limits]).joined(separator: "\n\n") + "\n"
    }

    /// The settings of no upstream, by the first part of their keys, in the order of the catalogue.
    private static var groups: [(name: String, settings: [Setting])] {
        var groups: [(name: String, settings: [Setting])] = []
        for setting in Setting.catalogue where setting.upstreamName == nil {
            let name = String(setting.key.prefix { $0 != "." })
            if let index = groups.firstIndex(where: { $0.name == name }) {
                groups[index].settings.append(setting)
            } else {
                groups.append((name, [setting]))
            }
        }
        return groups
    }

    /// The ends of the keys whose defaults differ between upstreams.
    static let ownDefaults = ["url", "allowed_hosts", "shared"]

    /// One table of what every upstream has, and one of the defaults in which upstreams differ.
    private static var upstreams: String {
        let common = Setting.ofUpstream("NAME")
        let rows = Setting.upstreams.map { upstream in
            let values = ownDefaults.map { end in
                "`\(end)`: " + value(Setting.named("upstreams.\(upstream.name).\(end)")?.standard)
            }
            return "| `\(upstream.name)` | \(upstream.title) | \(values.joined(separator: "<br>")) |"
        }
        return """
            ## upstreams

            Each upstream has these settings:

            \(table(common))

            | `NAME` | upstream | its own defaults |
            |---|---|---|
            \(rows.joined(separator: "\n"))

            \(upstreamNotes)
            """
    }

    private static func table(_ settings: [Setting]) -> String {
        let rows = settings.map { setting in
            let meaning = setting.note.isEmpty ? setting.summary : "\(setting.summary); \(setting.note)"
            return "| `\(setting.key)` | \(accepted(setting.kind)) | \(value(setting.standard)) | \(meaning) |"
        }
        return (["| key | accepts | default | meaning |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }

    private static func value(_ standard: String?) -> String {
        guard let standard else { return "–" }
        return standard.isEmpty ? "empty" : "`\(standard)`"
    }

    /// Returns what a setting accepts, short enough for a column.
    private static func accepted(_ kind: Setting.Kind) -> String {
        switch kind {
        case .integer(let range): "\(range.lowerBound)…\(range.upperBound == .max ? "2⁶³−1" : "\(range.upperBound)")"
        case .url: "http(s) URL, port 1…65535"
        case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .list: "words, separated by commas"
        case .hosts: "host names, separated by commas"
        case .origins: "origins (scheme, host, port), separated by commas"
        case .text: "text"
        case .instant: "RFC 3339 instant"
        }
    }
}
