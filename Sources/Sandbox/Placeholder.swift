// Filled by the first commits of this module.
