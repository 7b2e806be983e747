import Foundation
import Screens
import Settings

/// The settings `web.*`.
struct WebConfiguration: Sendable {
    /// Whether the front end is served.
    let isEnabled: Bool
    /// Folder of its files; nil for those of the program.
    let folder: URL?
    /// What `GET /v1` says to front ends.
    let description: IndexRoutes.Web

    /// Reads the settings.
    ///
    /// - Throws: `SettingError` if the tiles are those of an upstream without an address.
    init(_ settings: SettingValues, _ upstreams: ConfiguredUpstreams) throws(SettingError) {
        let (tiles, attribution) = (try settings.text("web.tiles"), try settings.text("web.tiles_attribution"))
        guard tiles.isEmpty || upstreams.byName[tiles] != nil else {
            throw .unacceptable(
                key: "web.tiles",
                value: tiles,
                source: "settings",
                accepted: "the name of an upstream with an address, upstreams.NAME.url"
            )
        }
        description = IndexRoutes.Web(
            tiles: tiles.isEmpty ? nil : tiles,
            attribution: attribution.isEmpty ? nil : attribution,
            maxZoom: try settings.integer("web.tiles_max_zoom"),
            diskOAuth: !((try? settings.text("disk.oauth_client_id")) ?? "").isEmpty
        )
        isEnabled = try settings.flag("web.enabled")
        let path = try settings.text("web.directory")
        folder = path.isEmpty ? nil : URL(filePath: path, directoryHint: .isDirectory)
    }
}
