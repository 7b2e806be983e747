import AppInterface
import Settings

/// Every setting of a server with these apps: `--help`, the documentation and the reading of settings are made from it.
struct SettingCatalogue: Sendable {
    /// The settings in the order in which they are documented.
    let all: [Setting]
    /// The names of the apps' upstreams.
    let upstreamNames: Set<String>

    init(_ apps: AppList) {
        all =
            Setting.http + apps.upstreams.flatMap(UpstreamSettings.settings(of:))
            + apps.types.flatMap { $0.settings } + Setting.web + Setting.sandbox + Setting.cache + Setting.storage
            + Setting.session + Setting.media + Setting.node + Setting.store
            + Setting.process
        upstreamNames = Set(apps.upstreams.map(\.name))
    }

    /// Returns the setting of a key, also of an upstream that no app uses; nil if there is none.
    func setting(key: String) -> Setting? { all.first { $0.key == key } ?? UpstreamSettings.setting(key: key) }

    /// Returns the setting of a flag.
    func setting(flag: String) -> Setting? {
        all.first { $0.flag == flag } ?? UpstreamSettings.setting(flag: flag)
    }

    /// Returns the setting of an environment variable.
    func setting(environmentName: String) -> Setting? {
        all.first { $0.environmentName == environmentName }
            ?? UpstreamSettings.setting(environmentName: environmentName)
    }
}
