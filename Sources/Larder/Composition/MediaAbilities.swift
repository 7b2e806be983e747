import Media
import Screens

/// What work on pictures and documents is possible here, for `/health/ready`. The first request has the programs tried
/// in the background, which takes up to a second or two, and the result is kept: programs that are missing at the start
/// are not looked for again. One that is there and fails is tried again after the next request.
actor MediaAbilities {
    private let engine: MediaEngine
    private var findings: [MediaEngine.Check]?
    private var isTesting = false

    init(_ engine: MediaEngine) {
        self.engine = engine
    }

    /// Returns one line for each program, and one for each thing that it was tried for, as far as they are known. It
    /// does not wait: load balancers allow a probe little time.
    func all() -> [HealthRoutes.Ability] {
        if needsTest { test() }
        return (findings ?? engine.untested()).map { found in
            let name = found.tool.executable + (found.ability.map { "/\($0)" } ?? "")
            return HealthRoutes.Ability(
                name: name,
                ok: found.works,
                install: found.works == false ? found.install : nil
            )
        }
    }

    private var needsTest: Bool {
        guard !isTesting else { return false }
        return findings?.contains { $0.works == false && engine.tools.paths[$0.tool] != nil } ?? true
    }

    private func test() {
        isTesting = true
        Task {
            findings = await engine.selfTest()
            isTesting = false
        }
    }
}
