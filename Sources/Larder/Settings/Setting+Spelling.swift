import Settings

extension Setting {
    /// `upstreams.spacex.url` → `--upstreams-spacex-url`.
    var flag: String { "--" + spelled(dot: "-", underscore: "-") }

    /// `upstreams.spacex.url` → `LARDER_UPSTREAMS_SPACEX_URL`.
    var environmentName: String { "LARDER_" + spelled(dot: "_", underscore: "_").uppercased() }

    /// Returns the key, which is ASCII, with other separators. Each start does this for all settings several times.
    private func spelled(dot: Unicode.Scalar, underscore: Unicode.Scalar) -> String {
        let bytes = key.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "."): UInt8(ascii: dot)
            case UInt8(ascii: "_"): UInt8(ascii: underscore)
            default: byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
