import AppInterface
import Foundation
import HTTPTypes
import Settings
import Upstream

extension UpstreamConfiguration {
    /// Reads the settings of an upstream.
    /// - Throws: `SettingError` if the upstream's settings were not declared.
    init(_ upstream: UpstreamDescription, at url: URL, _ settings: SettingValues) throws(SettingError) {
        let key = "upstreams.\(upstream.name)"
        self.init(
            name: upstream.name,
            title: upstream.title,
            baseURL: url,
            connectTimeout: try settings.milliseconds("\(key).connect_timeout_ms"),
            totalTimeout: try settings.milliseconds("\(key).total_timeout_ms"),
            patience: try settings.milliseconds("\(key).patience_ms"),
            probeInterval: try settings.milliseconds("\(key).probe_interval_ms"),
            allowedHosts: try settings.list("\(key).allowed_hosts"),
            hasSessions: upstream.hasSessions,
            limitsByCredential: upstream.limitsByCredential,
            probePath: upstream.probePath,
            mount: try MountOptions(upstream, settings)
        )
        if let trusted = upstream.trustedHostsSetting {
            followsPublicLinks = true
            trustedHosts = try settings.list(trusted)
        }
    }
}

extension MountOptions {
    fileprivate init(_ upstream: UpstreamDescription, _ settings: SettingValues) throws(SettingError) {
        let key = "upstreams.\(upstream.name)"
        self.init(
            shared: try settings.flag("\(key).shared"),
            methods: try settings.list("\(key).methods").compactMap { HTTPRequest.Method($0.uppercased()) },
            requestFields: try settings.list("\(key).request_fields").compactMap { RequestField(setting: $0) },
            lastGood: try settings.flag("\(key).last_good"),
            heuristics: try settings.flag("\(key).heuristics"),
            // A body that is a large part of the budget would displace all others.
            maximumStoredBytes: upstream.storesBodies ? try settings.mebibytes("cache.budget_mb") / 4 : 0
        )
    }
}
