import Settings

extension Setting {
    /// `upstreams.spacex.url` → `--upstreams-spacex-url`.
    var flag: String { "--" + key.replacing(".", with: "-").replacing("_", with: "-") }

    /// `upstreams.spacex.url` → `LARDER_UPSTREAMS_SPACEX_URL`.
    var environmentName: String { "LARDER_" + key.replacing(".", with: "_").uppercased() }
}
