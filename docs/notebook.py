"""From a data frame to the honest answer; runs as a script and, cell by cell (# %%), as a notebook."""
# %% The data: a frame with labels and the hospital of each row.
from sklearn.ensemble import HistGradientBoostingClassifier

import ecotone

X, y, hospital = ecotone.generate("clinics", size=0.3, seed=1)
print(X.head())

# %% How different are the hospitals, and in what?
diagnosis = ecotone.diagnose(X, y, hospital, permutations=99)
print(diagnosis.to_frame()[["domain", "auroc", "p_value"]])
for advice in diagnosis.advice[:3]:
    print("-", advice)

# %% How well do models do in a hospital that they have not seen? One of scikit-learn is judged beside ours.
pipelines = ["constant", "impute | scale | logistic", "impute | step score=auroc", HistGradientBoostingClassifier(max_iter=50)]
evaluation = ecotone.evaluate(X, y, hospital, pipelines)
print(evaluation)

# %% Options are tuned within the training hospitals.
tuning = ecotone.tune(X, y, hospital, "impute | scale | logistic l2={0.001,0.01,0.1,1}")
print(tuning)

# %% The tuned pipeline, fitted on all hospitals, saved and read again.
model = ecotone.Pipeline(tuning.pipeline).fit(X, y, sample_domain=hospital)
model.save("clinics.eco")
assert (ecotone.load("clinics.eco").predict(X) == model.predict(X)).all()

# %% The report.
ecotone.report(evaluation, "clinics.html", title="Eight hospitals")
