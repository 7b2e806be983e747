import AppInterface
import Settings

/// The reference of all settings, `docs/configuration.md`.
struct SettingsPage {
    private let apps: AppList
    private let catalogue: SettingCatalogue

    init(_ apps: AppList = .standard) {
        self.apps = apps
        catalogue = SettingCatalogue(apps)
    }

    /// Returns the page as GitHub Flavored Markdown.
    func markdown() -> String {
        let sections = groups.map { "## \($0.name)\n\n" + table($0.settings) }
        return ([Self.introduction, upstreams] + sections + [Self.mounts, Self.exposure, Self.limits]).joined(
            separator: "\n\n"
        ) + "\n"
    }

    /// The settings of no upstream, by the first part of their keys, in the order of the catalogue.
    private var groups: [(name: String, settings: [Setting])] {
        var groups: [(name: String, settings: [Setting])] = []
        for setting in catalogue.all where UpstreamSettings.upstreamName(inKey: setting.key) == nil {
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
    private var upstreams: String {
        let common = UpstreamSettings.settings(ofName: "NAME")
        let rows = apps.upstreams.map { upstream in
            let values = Self.ownDefaults.map { end in
                "`\(end)`: " + value(catalogue.setting(key: "upstreams.\(upstream.name).\(end)")?.standard)
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

            \(Self.upstreamNotes)
            """
    }

    private func table(_ settings: [Setting]) -> String {
        let rows = settings.map { setting in
            let meaning = setting.note.isEmpty ? setting.summary : "\(setting.summary); \(setting.note)"
            return "| `\(setting.key)` | \(accepted(setting.kind)) | \(value(setting.standard)) | \(meaning) |"
        }
        return (["| key | accepts | default | meaning |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }

    private func value(_ standard: String?) -> String {
        guard let standard else { return "–" }
        return standard.isEmpty ? "empty" : "`\(standard)`"
    }

    /// Returns what a setting accepts, short enough for a column.
    private func accepted(_ kind: Setting.Kind) -> String {
        switch kind {
        case .integer(let range): "\(range.lowerBound)…\(range.upperBound == .max ? "2⁶³−1" : "\(range.upperBound)")"
        case .url: "http(s) URL, port 1…65535"
        case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .list: "words, separated by commas"
        case .hosts: "host names, separated by commas"
        case .addressRanges: "IP addresses and CIDR ranges, separated by commas"
        case .origins: "origins (scheme, host, port), separated by commas"
        case .methods: "HTTP methods but CONNECT, separated by commas"
        case .requestFields: "names of request fields, each may end in `:unkeyed`, separated by commas"
        case .timeZone: "a name of the time zone database"
        case .text: "text"
        case .instant: "RFC 3339 instant"
        }
    }
}
