import Media
import Screens

/// What of the work on pictures and documents can be done here, for `/health/ready`. Tried when it is first asked for
/// and then kept: programs that are missing at the start are looked for no more. Only where a program is there and
/// fails it is tried again.
actor MediaAbilities {
    private let engine: MediaEngine
    private var attempt: Task<[MediaEngine.Check], Never>?

    init(_ engine: MediaEngine) {
        self.engine = engine
    }

    /// One line a program, and one for each thing that it was tried for.
    func all() async -> [HealthRoutes.Ability] {
        let attempt = attempt ?? Task { [engine] in await engine.selfTest() }
        self.attempt = attempt
        let findings = await attempt.value
        if findings.contains(where: { !$0.works && engine.tools.paths[$0.tool] != nil }), self.attempt == attempt {
            self.attempt = nil
        }
        return findings.map { found in
            let name = found.tool.executable + (found.ability.map { "/\($0)" } ?? "")
            return HealthRoutes.Ability(name: name, ok: found.works, install: found.works ? nil : found.install)
        }
    }
}
